// SPDX-License-Identifier: Apache-2.0
//
// Idea: in each round two PEs, and with them two groups, exchange all that they have gathered.
// Phases: 1. offer      my piece, staged
//         2. take over  log2 p rounds: 1, 2, 4, ... blocks into out and behind mine in my staging
// Cost a PE: log2 p steps a piece; p/2 n bytes stored, (p-1) n loaded.
// Needs: p a power of two, at least 2; any count; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: see doubling.hpp.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.1.
#include "collectives/allgather/doubling.hpp"
#include "collectives/allgather/registry.hpp"
#include "collectives/problem_facts.hpp"

namespace tutti::detail::allgather {
namespace {

void run(Execution& x, const Params& params) { Doubling(x, params, xor_block).run(); }

}  // namespace

constinit const Algorithm kRecursiveDoubling = {
    .collective = Collective::Allgather,
    .name = "recursive_doubling",
    .summary = "pairs of groups exchange all that they have",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = round_pieces::kParameters,
    .supports = needs::power_of_two,
    .scratch_bytes = Doubling::scratch_bytes,
    .traffic = Doubling::traffic,
    .run = run,
};

}  // namespace tutti::detail::allgather
