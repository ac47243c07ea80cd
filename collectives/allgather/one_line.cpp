// SPDX-License-Identifier: Apache-2.0
//
// Idea: each block and its PE's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  my block in the line of my arrival word
//         2. copy     all blocks into out
// Cost a PE: 1 step; n bytes stored, (p-1) n loaded.
// Needs: blocks of at most 56 bytes; any p; no scratch.
// Order: nothing is reduced.
// Signals: the arrival word publishes the payload before it in its line. The line is written again
//          eight calls later, when everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/allgather/registry.hpp"
#include "collectives/lines.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgather {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  const std::uint64_t block = block_bytes(problem);
  return {1, block, (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0};
}

void run(Execution& x, const Params&) {
  x.publish_line(x.in(), block_bytes(x.problem()));
  copy_lines(x);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Allgather,
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

}  // namespace tutti::detail::allgather
