// SPDX-License-Identifier: Apache-2.0
//
// Idea: the vector travels from PE to PE in pieces; while one piece is copied on, the next arrives.
//       Every staging has one reader.
// Phases: 1. copy   piece k from the ring of the PE before me
//         2. stage  piece k for the PE behind me, if it is not the root
// Cost a PE: ceil(n / chunk) + p - 2 steps of copying; n bytes stored by all but the last, n loaded
//            by all but the root.
// Needs: any p, any count, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: as in flat, with the PE before me in the place of the root.
// Source: Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra, "Performance analysis of MPI
//         collective operations" (2007), section 4.1.
#include "collectives/broadcast/pipeline.hpp"
#include "collectives/broadcast/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/schedule/ring_steps.hpp"

namespace tutti::detail::broadcast {
namespace {

bool is_last(int pe, int root, int pes) { return pe == ring_before(root, pes); }

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  return pass_on_traffic(problem, params, pe == 0, !is_last(pe, 0, problem.pes));
}

int hops(const Problem& problem, const Params&) { return problem.pes - 1; }

void run(Execution& x, const Params& params) {
  const int before = x.pe() == x.root() ? -1 : ring_before(x.pe(), x.pes());
  pass_on(x, params, before, !is_last(x.pe(), x.root(), x.pes()));
}

}  // namespace

constinit const Algorithm kChain = {
    .collective = Collective::Broadcast,
    .name = "chain",
    .summary = "pieces travel from PE to PE",
    .source = "Pjesivac-Grbovic et al. 2007",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = needs::nothing,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
    .hops = hops,
};

}  // namespace tutti::detail::broadcast
