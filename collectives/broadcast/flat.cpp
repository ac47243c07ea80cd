// SPDX-License-Identifier: Apache-2.0
//
// Idea: the root stages its vector in pieces, everyone copies them from there.
// Phases: 1. stage  the root copies piece k into its ring; step k + 1
//         2. copy   everyone else copies piece k from the root's ring
// Cost a PE: ceil(n / chunk) steps; n bytes stored by the root, n loaded by each other.
// Needs: any p, any count, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 of the root publishes piece k; `consumed` k + 1 says that I have copied it,
//          raised only if the vector is longer than the ring. The root may run ahead of its
//          readers: by rule R1 at most eight calls.
// Source: Graham, Shipman 2008 (shared-memory fan-out).
#include "collectives/broadcast/pipeline.hpp"
#include "collectives/broadcast/registry.hpp"
#include "collectives/problem_facts.hpp"

namespace tutti::detail::broadcast {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  return pass_on_traffic(problem, params, pe == 0, pe == 0);
}

void run(Execution& x, const Params& params) {
  const bool is_root = x.pe() == x.root();
  pass_on(x, params, is_root ? -1 : x.root(), is_root);
}

}  // namespace

constinit const Algorithm kFlat = {
    .collective = Collective::Broadcast,
    .name = "flat",
    .summary = "the root stages, everyone copies from it",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = needs::nothing,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::broadcast
