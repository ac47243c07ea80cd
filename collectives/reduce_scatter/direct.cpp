// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages the blocks that others own; the owner folds all of them in one pass. My
//       own block is never staged.
// Phases: 1. stage  piece k of every other PE's block; published by step k + 1
//         2. fold   `lag` pieces later: my piece, all sources in PE order, into out
// Cost a PE: ceil(n / piece) steps; (p-1) n bytes stored, (p-1) n loaded, one fold of n x p.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: the left fold in PE order.
// Signals: step k + 1 publishes piece k of all blocks; `consumed` k + 1 says that I have folded
//          piece k of mine, raised only if the blocks do not fit in the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 5 (pairwise exchange, all at once).
#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "collectives/staged_blocks.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatter {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  Traffic sum = StagedBlocks::traffic(problem, params, pe);
  sum.bytes_folded = bytes_of(problem);
  return sum;
}

void fold(Execution& x, StagedBlocks& blocks, std::size_t k, StoreKind results) {
  x.await_all(k + 1);
  const auto sources = x.sources();
  for (int pe = 0; pe < x.pes(); ++pe) {
    sources[static_cast<std::size_t>(pe)] = blocks.from(pe, k);
  }
  x.fold(x.out() + blocks.offset(k), sources, blocks.size(k), results);
}

void run(Execution& x, const Params& params) {
  StagedBlocks blocks(x, params);
  const StoreKind results = results_of(x, params[StagedBlocks::kResults]);
  blocks.pass([&](std::size_t k) { fold(x, blocks, k, results); });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::ReduceScatter,
    .name = "direct",
    .summary = "everyone stages the blocks of others, owners fold all of them",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = StagedBlocks::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = StagedBlocks::scratch_bytes,
    .traffic = traffic,
    .run = run,
    .revision = 3,
};

}  // namespace tutti::detail::reduce_scatter
