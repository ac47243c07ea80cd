// SPDX-License-Identifier: Apache-2.0
//
// Idea: on symmetric tensors nothing is staged: each PE writes its vector into the output of the PE
//       `shift` places up.
// Phases: 1. arrive  my output may be written
//         2. push    my vector into the receiver's output
//         3. finish  the sender's vector is in mine
// Cost a PE: 2 steps; n bytes stored to a peer.
// Needs: symmetric tensors that are reached by load and store, not in place; no scratch.
// Order: nothing is reduced.
// Signals: step 1 says that the call before has been left, so that the sender may write my output;
//          step 2 publishes my vector in the receiver's output.
// Source: Graham, Shipman 2008.
#include "collectives/problem_facts.hpp"
#include "collectives/ring_shift/registry.hpp"
#include "collectives/schedule/partition.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::ring_shift {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  return {2, block_bytes(problem), 0, 0};
}

/// On private memory of threads others cannot know who calls in place.
const char* supports(const Problem& problem) {
  if (problem.memory != Memory::Symmetric) return "needs symmetric tensors, not in place";
  return needs::open_buffers(problem);
}

void run(Execution& x, const Params&) {
  const std::size_t bytes = block_bytes(x.problem());
  const int receiver = ring_place(x.pe(), x.shift(), x.pes());
  x.open_buffers();
  x.copy(x.write_out(receiver, 0, bytes), x.in(), bytes);
  x.publish(2);
  x.await(ring_place(x.pe(), -x.shift(), x.pes()), 2);
}

}  // namespace

constinit const Algorithm kSymmetricPush = {
    .collective = Collective::RingShift,
    .name = "symmetric_push",
    .summary = "everyone writes its vector straight into one PE's output",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = {},
    .supports = supports,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::ring_shift
