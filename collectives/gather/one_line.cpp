// SPDX-License-Identifier: Apache-2.0
//
// Idea: each block and its PE's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  the block in the line of the arrival word, on all but the root
//         2. copy     the root copies all blocks into out
// Cost a PE: 1 step; n bytes stored by all but the root, (p-1) n loaded by the root.
// Needs: blocks of at most 56 bytes; any p, any root; no scratch.
// Order: nothing is reduced.
// Signals: the arrival word publishes the payload before it in its line; that of who has no payload
//          says no more than that it is here. The line is written again eight calls later, when
//          everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/gather/registry.hpp"
#include "collectives/lines.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::gather {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  const std::uint64_t block = block_bytes(problem);
  if (pe != 0) return {1, block, 0, 0};
  return {1, 0, (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0};
}

void run(Execution& x, const Params&) {
  if (x.pe() != x.root()) return x.publish_line(x.in(), block_bytes(x.problem()));
  x.publish(1);
  copy_lines(x);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Gather,
    .name = "one_line",
    .summary = "block and arrival word in one line",
    .source = "NCCL LL128 protocol",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::block_in_line,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::gather
