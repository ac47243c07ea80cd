// SPDX-License-Identifier: Apache-2.0
//
// Idea: each input and its PE's arrival word share one line, so one line transfer brings both.
// Phases: 1. publish  my input in the line of my arrival word
//         2. copy     my block of all inputs into out
// Cost a PE: 1 step; p n bytes stored, (p-1) n loaded.
// Needs: all blocks together at most 56 bytes; any p; no scratch.
// Order: nothing is reduced. In place is safe: the whole input is published before anything is
// written. Signals: the arrival word publishes the payload before it in its line. The line is
// written again
//          eight calls later, when everyone is known to have left this one (rule R1).
// Source: the low-latency protocol of collectives that carry a flag in each line (NCCL "LL128").
#include "collectives/alltoall/registry.hpp"
#include "collectives/lines.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::alltoall {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  const std::uint64_t bytes = bytes_of(problem);
  return {1, bytes, bytes - block_bytes(problem), 0};
}

void run(Execution& x, const Params&) {
  const std::size_t block = block_bytes(x.problem());
  x.publish_line(x.in(), bytes_of(x.problem()));
  for (int pe = 0; pe < x.pes(); ++pe) {
    x.copy(x.out() + static_cast<std::size_t>(pe) * block,
           line_of(x, pe) + static_cast<std::size_t>(x.pe()) * block, block);
  }
}

}  // namespace

constinit const Algorithm kOneLine = {
    .collective = Collective::Alltoall,
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

}  // namespace tutti::detail::alltoall
