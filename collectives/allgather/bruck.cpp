// SPDX-License-Identifier: Apache-2.0
//
// Idea: in each round a PE takes over all that the PE 2^r places up the ring has gathered so far.
// Phases: 1. offer      my piece, staged
//         2. take over  log2 p rounds: 1, 2, 4, ... blocks into out and behind mine in my staging
// Cost a PE: log2 p steps a piece (rounded up); at most (p-1) n bytes stored, (p-1) n loaded.
// Needs: p >= 2, any count; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: see doubling.hpp.
// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications
//         in multiport message-passing systems" (1997).
#include "collectives/allgather/doubling.hpp"
#include "collectives/allgather/registry.hpp"
#include "collectives/problem_facts.hpp"

namespace tutti::detail::allgather {
namespace {

void run(Execution& x, const Params& params) { Doubling(x, params, bruck_block).run(); }

}  // namespace

constinit const Algorithm kBruck = {
    .collective = Collective::Allgather,
    .name = "bruck",
    .summary = "everyone takes over all that another has, at doubling distances",
    .source = "Bruck, Ho, Kipnis, Upfal, Weathersby 1997",
    .keeps_ordered = true,
    .parameters = round_pieces::kParameters,
    .supports = needs::two_pes,
    .scratch_bytes = Doubling::scratch_bytes,
    .traffic = Doubling::traffic,
    .run = run,
};

}  // namespace tutti::detail::allgather
