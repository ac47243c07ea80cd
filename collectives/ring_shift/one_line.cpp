// SPDX-License-Identifier: Apache-2.0
//
// Idea: the vector and its PE's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  my vector in the line of my arrival word
//         2. copy     that of the PE which sends to me into out
// Cost a PE: 1 step; n bytes stored, n loaded.
// Needs: vectors of at most 56 bytes; any p, any shift; no scratch.
// Order: nothing is reduced.
// Signals: the arrival word publishes the payload before it in its line. The line is written again
//          eight calls later, when everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/lines.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/ring_shift/registry.hpp"
#include "collectives/schedule/partition.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::ring_shift {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  const std::uint64_t bytes = block_bytes(problem);
  return {1, bytes, bytes, 0};
}

void run(Execution& x, const Params&) {
  const std::size_t bytes = block_bytes(x.problem());
  x.publish_line(x.in(), bytes);
  x.copy(x.out(), line_of(x, ring_place(x.pe(), -x.shift(), x.pes())), bytes);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::RingShift,
    .name = "one_line",
    .summary = "vector and arrival word in one line, up to 56 bytes",
    .source = "NCCL LL128 protocol",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::vector_in_line,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::ring_shift
