// SPDX-License-Identifier: Apache-2.0
//
// Idea: payload and arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  my vector in the line of my arrival word
//         2. fold     all lines in PE order
// Cost a PE: 1 step; n bytes stored, (p-1) n loaded, one fold of p sources.
// Needs: at most 56 bytes; any p; no scratch.
// Order: the left fold in PE order on every PE, so the same bits everywhere.
// Signals: the arrival word publishes the payload before it in its line. The line is written again
//          eight calls later, when everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/allreduce/registry.hpp"
#include "collectives/lines.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t bytes = bytes_of(problem);
  return {1, bytes, (pes - 1) * bytes, pes * bytes};
}

void run(Execution& x, const Params&) {
  x.publish_line(x.in(), bytes_of(x.problem()));
  fold_lines(x);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Allreduce,
    .name = "one_line",
    .summary = "payload and arrival word in one line",
    .source = "NCCL LL128 protocol",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::vector_in_line,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allreduce
