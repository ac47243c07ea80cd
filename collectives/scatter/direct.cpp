// SPDX-License-Identifier: Apache-2.0
//
// Idea: the root stages the blocks of the others; each of them copies its own.
// Phases: 1. stage  the root copies piece k of every other block into its ring: step k + 1
//         2. take   the others copy piece k of their block into out; the root takes its own
// Cost a PE: ceil(n / piece) steps; (p-1) n bytes stored by the root, n loaded by each other.
// Needs: any p, any count, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 of the root publishes piece k of all blocks; step 0 of the others says no
//          more than that they are here. `consumed` k + 1 says that I have copied piece k, raised
//          only if the blocks do not fit in the ring. The root may run ahead of its readers: by
//          rule R1 at most eight calls.
// Source: Graham, Shipman 2008 (shared-memory fan-out).
#include "collectives/problem_facts.hpp"
#include "collectives/rooted_pieces.hpp"
#include "collectives/scatter/registry.hpp"
#include "collectives/staged_blocks.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::scatter {
namespace {

using rooted_pieces::kChunkBytes;
using rooted_pieces::kParameters;
using rooted_pieces::kRingBytes;
using rooted_pieces::kSlots;
using rooted_pieces::kStore;

std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return StagedBlocks::ring_for(problem, params[kRingBytes], 0, kSlots);
}

Pipeline pipeline(const Problem& problem, const Params& params) {
  return StagedBlocks::plan_for(problem, params[kChunkBytes], 0, scratch_bytes(problem, params));
}

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const std::uint64_t block = block_bytes(problem);
  const std::uint64_t consumed = plan.wraps ? plan.chunks : 0;
  if (pe != 0) return {1 + consumed, 0, block, 0};
  return {plan.chunks + consumed, (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0, 0};
}

void run(Execution& x, const Params& params) {
  StagedBlocks blocks(x, pipeline(x.problem(), params), store_of(params[kStore]));
  const bool is_root = x.pe() == x.root();
  for (std::size_t k = 0; k < blocks.pieces(); ++k) {
    blocks.reserve(k);  // by all, so that positions stay equal
    if (is_root) blocks.stage(k);
    x.await(x.root(), k + 1);
    x.copy(x.out() + blocks.offset(k), blocks.from(x.root(), k), blocks.bytes(k));
    blocks.consumed(k);
  }
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Scatter,
    .name = "direct",
    .summary = "the root stages the blocks of others, each copies its own",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = needs::nothing,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::scatter
