// SPDX-License-Identifier: Apache-2.0
//
// Idea: each vector and its PE's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  the vector in the line of the arrival word, on all but the root
//         2. fold     the root folds all lines and its own input in PE order
// Cost a PE: 1 step; n bytes stored by all but the root; (p-1) n loaded and one fold of p sources
// by
//            the root.
// Needs: at most 56 bytes; any p, any root; no scratch.
// Order: the left fold in PE order.
// Signals: the arrival word publishes the payload before it in its line; that of who has no payload
//          says no more than that it is here. The line is written again eight calls later, when
//          everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/lines.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/reduce/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  const std::uint64_t bytes = bytes_of(problem);
  if (pe != 0) return {1, bytes, 0, 0};
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  return {1, 0, (pes - 1) * bytes, pes * bytes};
}

void run(Execution& x, const Params&) {
  if (x.pe() != x.root()) return x.publish_line(x.in(), bytes_of(x.problem()));
  x.publish(1);
  fold_lines(x);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Reduce,
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

}  // namespace tutti::detail::reduce
