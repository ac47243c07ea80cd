// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages its block in chunks; everyone copies all other blocks straight from their
//       owners.
// Phases: 1. stage  copy chunk k of my block into my ring and publish it as step k + 1
//         2. gather `lag` chunks later: chunk k of every other block into out
// Cost a PE: ceil(n / chunk) steps; n bytes stored, (p-1) n loaded.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 publishes chunk k; `consumed` k + 1 says that I have copied chunk k of all,
//          raised only if a block is longer than the ring.
// Source: MPI Forum, MPI 4.0, section 6.7 (the operation); direct exchange is folklore.
#include "collectives/allgather/registry.hpp"
#include "collectives/chunked_input.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgather {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int) {
  return ChunkedInput::traffic(problem, params);
}

void gather(Execution& x, ChunkedInput& chunks, std::size_t k, StoreKind results) {
  const std::size_t block = block_bytes(x.problem());
  for (int i = 0; i < x.pes(); ++i) {
    const int pe = ring_place(x.pe(), i, x.pes());  // not all from PE 0 at once
    x.await(pe, k + 1);
    x.copy(x.out() + static_cast<std::size_t>(pe) * block + chunks.offset(k), chunks.of(pe, k),
           chunks.bytes(k), results);
  }
}

void run(Execution& x, const Params& params) {
  ChunkedInput chunks(x, params);
  const StoreKind results = store_of(params[ChunkedInput::kResults]);
  chunks.pass([&](std::size_t k) { gather(x, chunks, k, results); });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Allgather,
    .name = "direct",
    .summary = "everyone stages its block, everyone copies all others",
    .source = "MPI 4.0, section 6.7",
    .keeps_ordered = true,
    .parameters = ChunkedInput::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = ChunkedInput::scratch_bytes,
    .traffic = traffic,
    .run = run,
    .revision = 3,
};

}  // namespace tutti::detail::allgather
