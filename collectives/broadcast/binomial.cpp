// SPDX-License-Identifier: Apache-2.0
//
// Idea: whoever has the vector passes it on, so the readers of one staging are log2 p, not p.
// Phases: 1. copy   piece k from my parent's ring
//         2. stage  piece k for my children, if I have any
// Cost a PE: ceil(n / chunk) steps, log2 p deep; n bytes stored by each PE with children, n loaded.
// Needs: any p, any count, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: as in flat, with the parent in the place of the root.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.
#include "collectives/schedule/binomial.hpp"

#include "collectives/broadcast/pipeline.hpp"
#include "collectives/broadcast/registry.hpp"
#include "collectives/problem_facts.hpp"

namespace tutti::detail::broadcast {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  return pass_on_traffic(problem, params, pe == 0, binomial_has_children(pe, 0, problem.pes));
}

int hops(const Problem& problem, const Params&) { return binomial_depth(problem.pes); }

void run(Execution& x, const Params& params) {
  pass_on(x, params, binomial_parent(x.pe(), x.root(), x.pes()),
          binomial_has_children(x.pe(), x.root(), x.pes()));
}

}  // namespace

constinit const Algorithm kBinomial = {
    .collective = Collective::Broadcast,
    .name = "binomial",
    .summary = "a binomial tree of staged copies",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = needs::nothing,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
    .hops = hops,
};

}  // namespace tutti::detail::broadcast
