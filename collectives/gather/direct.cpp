// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone but the root stages its block; the root copies all of them.
// Phases: 1. stage  the others copy piece k of their block into their rings: step k + 1
//         2. take   the root copies piece k of every block into out
// Cost a PE: ceil(n / chunk) steps; n bytes stored by the others, (p-1) n loaded by the root.
// Needs: any p, any count, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 publishes piece k; the root's step 1 says no more than that it is here.
//          `consumed` k + 1 of the root says that it has copied piece k of all blocks, raised only
//          if a block is longer than the ring.
// Source: Graham, Shipman 2008 (shared-memory fan-in).
#include "collectives/gather/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/rooted_pieces.hpp"

namespace tutti::detail::gather {
namespace {

void take(Execution& x, std::size_t k, const Part& piece, const Staged& range) {
  const std::size_t element = element_bytes(x.problem());
  const std::size_t bytes = piece.size * element;
  for (int pe = 0; pe < x.pes(); ++pe) {
    x.await(pe, k + 1);
    const std::byte* from =
        pe == x.pe() ? x.in() + piece.begin * element : x.read(pe, range, 0, bytes);
    const std::size_t block = static_cast<std::size_t>(pe) * x.problem().count;
    x.copy(x.out() + (block + piece.begin) * element, from, bytes);
  }
}

void run(Execution& x, const Params& params) {
  rooted_pieces::to_root(x, params, [&](std::size_t k, const Part& piece, const Staged& range) {
    take(x, k, piece, range);
  });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Gather,
    .name = "direct",
    .summary = "everyone stages its block, the root copies all of them",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = rooted_pieces::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = rooted_pieces::scratch_bytes,
    .traffic = rooted_pieces::to_root_traffic,
    .run = run,
};

}  // namespace tutti::detail::gather
