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
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

const char* supports(const Problem& problem) {
  return bytes_of(problem) > Execution::kLinePayload ? "takes at most 56 bytes" : nullptr;
}

std::size_t scratch_bytes(const Problem&, const Params&) { return 0; }

Traffic traffic(const Problem& problem, const Params&, int) {
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t bytes = bytes_of(problem);
  return {1, bytes, (pes - 1) * bytes, pes * bytes};
}

void fold(Execution& x) {
  const auto sources = x.sources();
  const std::size_t bytes = bytes_of(x.problem());
  for (int pe = 0; pe < x.pes(); ++pe) {
    sources[static_cast<std::size_t>(pe)] = pe == x.pe() ? x.in() : x.await_line(pe, bytes);
  }
  x.fold(x.out(), sources, x.problem().count);
}

void run(Execution& x, const Params&) {
  x.publish_line(x.in(), bytes_of(x.problem()));
  fold(x);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Allreduce,
    .name = "one_line",
    .summary = "payload and arrival word in one line",
    .source = "NCCL LL128 protocol",
    .keeps_ordered = true,
    .parameters = {},
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allreduce
