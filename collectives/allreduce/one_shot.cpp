// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages its vector, everyone folds all vectors itself. One exchange; the vector
//       goes through a ring in chunks, so that writing one chunk overlaps reading another.
// Phases: 1. stage  copy chunk k into my ring and publish it as step k + 1
//         2. fold   `lag` chunks later: my input and all peers' staging, in PE order
// Cost a PE: ceil(n / chunk) steps; n bytes stored, (p-1) n loaded, one fold of p sources.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: the left fold in PE order on every PE, so the same bits everywhere.
// Signals: step k + 1 publishes chunk k. `consumed` k + 1 says that I have folded chunk k, raised
//          only if the vector is longer than the ring; between calls arrivals say it.
// Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//         MPICH" (2005), section 4, "recursive doubling" discussion of direct exchange;
//         TensorRT-LLM calls the GPU form "one-shot".
#include "collectives/allreduce/registry.hpp"
#include "collectives/chunked_input.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int) {
  Traffic sum = ChunkedInput::traffic(problem, params);
  sum.bytes_folded = static_cast<std::uint64_t>(problem.pes) * bytes_of(problem);
  return sum;
}

void fold(Execution& x, ChunkedInput& chunks, std::size_t k, StoreKind results) {
  x.await_all(k + 1);
  const auto sources = x.sources();
  for (int pe = 0; pe < x.pes(); ++pe) {
    sources[static_cast<std::size_t>(pe)] = chunks.of(pe, k);
  }
  x.fold(x.out() + chunks.offset(k), sources, chunks.size(k), results);
}

void run(Execution& x, const Params& params) {
  ChunkedInput chunks(x, params);
  const StoreKind results = results_of(x, params[ChunkedInput::kResults]);
  chunks.pass([&](std::size_t k) { fold(x, chunks, k, results); });
}

}  // namespace

constinit const Algorithm kOneShot = {
    .collective = Collective::Allreduce,
    .name = "one_shot",
    .summary = "everyone stages its vector, everyone folds all of them",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = ChunkedInput::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = ChunkedInput::scratch_bytes,
    .traffic = traffic,
    .run = run,
    .revision = 3,
};

}  // namespace tutti::detail::allreduce
