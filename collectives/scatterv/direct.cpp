// SPDX-License-Identifier: Apache-2.0
//
// Idea: the root stages the blocks of the others; each of them copies its own. Short blocks have
//       empty pieces at the end.
// Phases: 1. stage  the root copies piece k of every other block into its ring: step k + 1
//         2. take   the others copy piece k of their block into out; the root takes its own
// Cost a PE: ceil(longest / piece) steps; the others' blocks stored by the root, its own loaded by
//            each other.
// Needs: any p, any counts, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 of the root publishes piece k of all blocks; step 0 of the others says no
//          more than that they are here. `consumed` k + 1 says that I have copied piece k, raised
//          only if the blocks do not fit in the ring. The root may run ahead of its readers: by
//          rule R1 at most eight calls.
// Source: MPI Forum, MPI 4.0, section 6.6 (the operation); Graham, Shipman 2008 (shared-memory
//         fan-out).
#include "collectives/counted_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/rooted_pieces.hpp"
#include "collectives/scatterv/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::scatterv {
namespace {

using rooted_pieces::kChunkBytes;
using rooted_pieces::kRingBytes;
using rooted_pieces::kStore;

std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return StagedBlocks::ring_for(problem, params[kRingBytes], 0, rooted_pieces::kSlots);
}

Pipeline pipeline(std::size_t longest, const Problem& problem, const Params& params) {
  Problem blocks = problem;
  blocks.count = longest;
  return StagedBlocks::plan_for(blocks, params[kChunkBytes], 0, scratch_bytes(problem, params));
}

// Of counts as equal as can be; others are not among the facts of a problem.
Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(even_count(problem, 0), problem, params);
  const std::uint64_t mine = even_count(problem, pe) * element_bytes(problem);
  const std::uint64_t consumed = plan.wraps ? plan.chunks : 0;
  if (pe != 0) return {1 + consumed, 0, mine, 0};
  return {plan.chunks + consumed, bytes_of(problem) - mine, 0, 0};
}

void run(Execution& x, const Params& params) {
  const std::size_t element = element_bytes(x.problem());
  const BlockRange mine = x.in_block(x.pe());
  CountedBlocks blocks(x, pipeline(longest_block(x), x.problem(), params),
                       store_of(params[kStore]));
  for (std::size_t k = 0; k < blocks.pieces(); ++k) {
    const Part piece = blocks.piece(mine, k);
    blocks.reserve(k);  // by all, so that positions stay equal
    if (x.pe() == x.root()) blocks.stage(k);
    x.await(x.root(), blocks.step(k));
    x.copy(x.out() + piece.begin * element, blocks.from(x.root(), k, piece.size * element),
           piece.size * element);
    blocks.consumed(k);
  }
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Scatterv,
    .name = "direct",
    .summary = "the root stages the blocks of others, each copies its own",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = rooted_pieces::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::scatterv
