// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages the blocks that others own; the owner folds all of them in one pass. My
//       own block is never staged. Short blocks have empty pieces at the end.
// Phases: 1. stage  piece k of every other PE's block; published by step k + 1
//         2. fold   `lag` pieces later: my piece, all sources in PE order, into out
// Cost a PE: ceil(longest / piece) steps; the others' blocks stored, (p-1) times my block loaded,
//            one fold of my block x p.
// Needs: any p, any counts; a ring of `ring_bytes`.
// Order: the left fold in PE order.
// Signals: step k + 1 publishes piece k of all blocks; `consumed` k + 1 says that I have folded
//          piece k of mine, raised only if the blocks do not fit in the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 5 (pairwise exchange, all at once).
#include "collectives/counted_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatterv/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatterv {
namespace {

Pipeline pipeline(std::size_t longest, const Problem& problem, const Params& params) {
  Problem blocks = problem;
  blocks.count = longest;
  return StagedBlocks::pipeline(blocks, params);
}

// Of counts as equal as can be; others are not among the facts of a problem.
Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(even_count(problem, 0), problem, params);
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t mine = even_count(problem, pe) * element_bytes(problem);
  return {plan.chunks * (plan.wraps ? 2 : 1), bytes_of(problem) - mine, (pes - 1) * mine,
          pes * mine};
}

void fold(Execution& x, CountedBlocks& blocks, std::size_t k) {
  const std::size_t element = element_bytes(x.problem());
  const Part mine = blocks.piece(x.in_block(x.pe()), k);
  x.await_all(blocks.step(k));
  const auto sources = x.sources();
  for (int pe = 0; pe < x.pes(); ++pe) {
    sources[static_cast<std::size_t>(pe)] = blocks.from(pe, k, mine.size * element);
  }
  x.fold(x.out() + mine.begin * element, sources, mine.size);
}

void run(Execution& x, const Params& params) {
  CountedBlocks blocks(x, pipeline(longest_block(x), x.problem(), params),
                       store_of(params[StagedBlocks::kStore]));
  blocks.pass([&](std::size_t k) { fold(x, blocks, k); });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::ReduceScatterv,
    .name = "direct",
    .summary = "everyone stages the blocks of others, owners fold all of them",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = StagedBlocks::kCountsParameters,
    .supports = needs::nothing,
    .scratch_bytes = StagedBlocks::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce_scatterv
