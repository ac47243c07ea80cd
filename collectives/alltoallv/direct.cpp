// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone first shows how much it sends to whom; then it stages the blocks that are for
//       others, and everyone copies what is for it straight from each of them.
// Phases: 1. agree  my row of counts, staged; from all rows the longest block, and whether what is
//                   sent to me is what I expect
//         2. stage  piece k of every block but my own; published by step k + 2
//         3. take   `lag` pieces later: piece k of my block from everyone, into out
// Cost a PE: ceil(longest / piece) + 1 steps; p counts and the blocks for others stored, (p-1) p
//            counts and the blocks from others loaded.
// Needs: any p, any counts; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step 1 publishes my counts, step k + 2 piece k of all blocks; `consumed` k + 2 says that
//          I have copied piece k of mine and read all counts, raised only if they do not all fit in
//          the ring.
// Source: MPI Forum, MPI 4.0, section 6.8 (the operation); direct exchange is folklore.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collectives/alltoallv/registry.hpp"
#include "collectives/counted_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::alltoallv {
namespace {

using Count = std::uint64_t;

/// A piece of the longest block; the ring also holds the counts.
Pipeline pipeline(std::size_t longest, const Problem& problem, const Params& params) {
  Problem blocks = problem;
  blocks.count = longest;
  Pipeline plan = StagedBlocks::pipeline(blocks, params);
  const auto pes = static_cast<std::size_t>(problem.pes);
  const std::size_t each = (plan.chunk * element_bytes(problem) + 128) * pes;
  plan.wraps = (plan.chunks + 3) * each > StagedBlocks::scratch_bytes(problem, params);
  return plan;
}

// Of an exchange of nothing: counts are not among the facts of a problem.
Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = pipeline(0, problem, params);
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t row = pes * sizeof(Count);
  return {2 + (plan.wraps ? 1u : 0u), row, (pes - 1) * row, 0};
}

/// The longest block of all; fails where what I expect is not what is sent.
std::size_t agree(Execution& x) {
  const std::size_t row = static_cast<std::size_t>(x.pes()) * sizeof(Count);
  const Staged range = x.reserve(row, 1);
  std::byte* mine = x.write(range, 0, row);
  for (int pe = 0; pe < x.pes(); ++pe) {
    const Count count = x.in_block(pe).size;
    std::memcpy(mine + static_cast<std::size_t>(pe) * sizeof count, &count, sizeof count);
  }
  x.written(range, 0, row);
  x.publish(1);
  x.await_all(1);
  Count longest = 0;
  for (int pe = 0; pe < x.pes(); ++pe) {
    const std::byte* theirs = x.read(pe, range, 0, row);
    for (int to = 0; to < x.pes(); ++to) {
      Count count = 0;
      std::memcpy(&count, theirs + static_cast<std::size_t>(to) * sizeof count, sizeof count);
      longest = std::max(longest, count);
      if (to != x.pe() || count == x.out_block(pe).size) continue;
      x.fail(ErrorCode::Mismatch, fmt::format("PE {} sends me {} elements, I expect {}", pe, count,
                                              x.out_block(pe).size));
    }
  }
  return longest;
}

void take(Execution& x, CountedBlocks& blocks, std::size_t k) {
  const std::size_t element = element_bytes(x.problem());
  for (int i = 0; i < x.pes(); ++i) {
    const int pe = ring_place(x.pe(), i, x.pes());  // not all from PE 0 at once
    const BlockRange block = x.out_block(pe);
    const std::size_t bytes = blocks.piece(block, k).size * element;
    x.await(pe, blocks.step(k));
    x.copy(x.out() + blocks.offset(block, k), blocks.from(pe, k, bytes), bytes);
  }
}

void run(Execution& x, const Params& params) {
  const std::size_t longest = agree(x);
  CountedBlocks blocks(x, pipeline(longest, x.problem(), params),
                       store_of(params[StagedBlocks::kStore]), 1);
  blocks.pass([&](std::size_t k) { take(x, blocks, k); });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Alltoallv,
    .name = "direct",
    .summary = "everyone shows its counts, stages the blocks of others and copies its own from all",
    .source = "MPI 4.0, section 6.8",
    .keeps_ordered = true,
    .parameters = StagedBlocks::kCountsParameters,
    .supports = needs::nothing,
    .scratch_bytes = StagedBlocks::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::alltoallv
