// SPDX-License-Identifier: Apache-2.0
//
// Idea: the vector and the root's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  the root's vector in the line of its arrival word
//         2. copy     everyone else copies it from there
// Cost a PE: 1 step; n bytes stored by the root, n loaded by each other.
// Needs: at most 56 bytes; any p, any root; no scratch.
// Order: nothing is reduced.
// Signals: the arrival word publishes the payload before it in its line; that of who has no payload
//          says no more than that it is here. The line is written again eight calls later, when
//          everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/broadcast/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::broadcast {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  const std::uint64_t bytes = bytes_of(problem);
  return {1, pe == 0 ? bytes : 0, pe == 0 ? 0 : bytes, 0};
}

void run(Execution& x, const Params&) {
  const std::size_t bytes = bytes_of(x.problem());
  if (x.pe() == x.root()) return x.publish_line(x.in(), bytes);
  x.publish(1);
  x.copy(x.out(), x.await_line(x.root(), bytes), bytes);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Broadcast,
    .name = "one_line",
    .summary = "vector and arrival word in one line",
    .source = "NCCL LL128 protocol",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::vector_in_line,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::broadcast
