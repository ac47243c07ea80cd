// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages its vector in chunks for the PE `shift` places up, and copies what the PE
//       `shift` places down staged for it.
// Phases: 1. stage  copy chunk k of my vector into my ring and publish it as step k + 1
//         2. take   `lag` chunks later: chunk k of the sender into out
// Cost a PE: ceil(n / chunk) steps; n bytes stored, n loaded.
// Needs: any p, any count, any shift; a ring of `ring_bytes`.
// Order: nothing is reduced. In place is safe: what a chunk is overwritten by comes after it was
//        staged.
// Signals: step k + 1 publishes chunk k; `consumed` k + 1 says that I have copied chunk k, raised
//          only if the vector is longer than the ring.
// Source: MPI Forum, MPI 4.0, section 3.2 (the operation); staging in chunks is folklore.
#include "collectives/chunked_input.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/ring_shift/registry.hpp"
#include "collectives/schedule/partition.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::ring_shift {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int) {
  Traffic traffic = ChunkedInput::traffic(problem, params);
  traffic.bytes_loaded = block_bytes(problem);
  return traffic;
}

void run(Execution& x, const Params& params) {
  ChunkedInput chunks(x, params, ring_place(x.pe(), x.shift(), x.pes()));
  const int sender = ring_place(x.pe(), -x.shift(), x.pes());
  const StoreKind results = results_of(x, params[ChunkedInput::kResults]);
  chunks.pass([&](std::size_t k) {
    x.await(sender, k + 1);
    x.copy(x.out() + chunks.offset(k), chunks.of(sender, k), chunks.bytes(k), results);
  });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::RingShift,
    .name = "direct",
    .summary = "everyone stages its vector in chunks, one PE copies them",
    .source = "MPI 4.0, section 3.2",
    .keeps_ordered = true,
    .parameters = ChunkedInput::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = ChunkedInput::scratch_bytes,
    .traffic = traffic,
    .run = run,
    .revision = 2,
};

}  // namespace tutti::detail::ring_shift
