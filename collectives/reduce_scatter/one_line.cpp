// SPDX-License-Identifier: Apache-2.0
//
// Idea: each input and its PE's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  my input in the line of my arrival word
//         2. fold     my block of all inputs, in PE order, into out
// Cost a PE: 1 step; p n bytes stored, (p-1) n loaded, one fold of n x p.
// Needs: all blocks together at most 56 bytes; any p; no scratch.
// Order: the left fold in PE order.
// Signals: the arrival word publishes the payload before it in its line. The line is written again
//          eight calls later, when everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/lines.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatter {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  const std::uint64_t bytes = bytes_of(problem);
  return {1, bytes, bytes - block_bytes(problem), bytes};
}

void fold(Execution& x) {
  const std::size_t block = block_bytes(x.problem());
  const auto sources = x.sources();
  for (int pe = 0; pe < x.pes(); ++pe) {
    sources[static_cast<std::size_t>(pe)] =
        line_of(x, pe) + static_cast<std::size_t>(x.pe()) * block;
  }
  x.fold(x.out(), sources, x.problem().count);
}

void run(Execution& x, const Params&) {
  x.publish_line(x.in(), bytes_of(x.problem()));
  fold(x);
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::ReduceScatter,
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

}  // namespace tutti::detail::reduce_scatter
