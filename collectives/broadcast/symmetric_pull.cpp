// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged: everyone copies from the root's.
// Phases: 1. arrive  the root's vector is complete
//         2. pull    everyone else copies it
//         3. finish  the root waits until all have read it
// Cost a PE: 2 steps, the root 1; n bytes loaded by each but the root.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: nothing is reduced.
// Signals: the root's step 1 publishes its vector; step 2 of another says that it has read it. The
//          others do not wait for each other.
// Source: Graham, Shipman 2008.
#include "collectives/broadcast/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::broadcast {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  if (pe == 0) return {1, 0, 0, 0};
  return {2, 0, bytes_of(problem), 0};
}

void run(Execution& x, const Params&) {
  const std::size_t bytes = bytes_of(x.problem());
  x.open_buffers();
  if (x.pe() == x.root()) return x.await_all(2);
  x.copy(x.out(), x.read_in(x.root(), 0, bytes), bytes);
  x.publish(2);
}

}  // namespace

constinit const Algorithm kSymmetricPull = {
    .collective = Collective::Broadcast,
    .name = "symmetric_pull",
    .summary = "everyone copies straight from the root's buffer",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::open_buffers,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::broadcast
