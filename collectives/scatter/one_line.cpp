// SPDX-License-Identifier: Apache-2.0
//
// Idea: all blocks and the root's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  the root's input in the line of its arrival word
//         2. copy     everyone else copies its block from there
// Cost a PE: 1 step; p n bytes stored by the root, n loaded by each other.
// Needs: all blocks together at most 56 bytes; any p, any root; no scratch.
// Order: nothing is reduced.
// Signals: the arrival word publishes the payload before it in its line; that of who has no payload
//          says no more than that it is here. The line is written again eight calls later, when
//          everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/problem_facts.hpp"
#include "collectives/scatter/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::scatter {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  if (pe == 0) return {1, bytes_of(problem), 0, 0};
  return {1, 0, block_bytes(problem), 0};
}

void run(Execution& x, const Params&) {
  const std::size_t block = block_bytes(x.problem());
  const std::size_t place = static_cast<std::size_t>(x.pe()) * block;
  if (x.pe() == x.root()) {
    x.publish_line(x.in(), bytes_of(x.problem()));
    return x.copy(x.out(), x.in() + place, block);
  }
  x.publish(1);
  x.copy(x.out(), x.await_line(x.root(), block) + place, block);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Scatter,
    .name = "one_line",
    .summary = "all blocks and arrival word in one line",
    .source = "NCCL LL128 protocol",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::all_blocks_in_line,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::scatter
