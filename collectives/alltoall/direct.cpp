// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages the blocks that are for others; everyone copies what is for it straight
//       from each of them.
// Phases: 1. stage  piece k of every block but my own; published by step k + 1
//         2. take   `lag` pieces later: piece k of my block from everyone, into out
// Cost a PE: ceil(n / piece) steps; (p-1) n bytes stored, (p-1) n loaded.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: nothing is reduced. In place is safe: a piece of all blocks is staged before it is
//        written.
// Signals: step k + 1 publishes piece k of all blocks; `consumed` k + 1 says that I have copied
//          piece k of mine, raised only if the blocks do not fit in the ring.
// Source: MPI Forum, MPI 4.0, section 6.8 (the operation); direct exchange is folklore.
#include "collectives/alltoall/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/staged_blocks.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::alltoall {
namespace {

void take(Execution& x, StagedBlocks& blocks, std::size_t k, StoreKind results) {
  for (int i = 0; i < x.pes(); ++i) {
    const int pe = ring_place(x.pe(), i, x.pes());  // not all from PE 0 at once
    x.await(pe, k + 1);
    x.copy(x.out() + blocks.offset(pe, k), blocks.from(pe, k), blocks.bytes(k), results);
  }
}

void run(Execution& x, const Params& params) {
  StagedBlocks blocks(x, params);
  const StoreKind results = results_of(x, params[StagedBlocks::kResults]);
  blocks.pass([&](std::size_t k) { take(x, blocks, k, results); });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Alltoall,
    .name = "direct",
    .summary = "everyone stages the blocks of others, everyone copies its own from all",
    .source = "MPI 4.0, section 6.8",
    .keeps_ordered = true,
    .parameters = StagedBlocks::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = StagedBlocks::scratch_bytes,
    .traffic = StagedBlocks::traffic,
    .run = run,
    .revision = 3,
};

}  // namespace tutti::detail::alltoall
