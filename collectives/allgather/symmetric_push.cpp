// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged: each PE writes its block into
//       everyone's output.
// Phases: 1. arrive  my output may be written
//         2. push    my block into all outputs, my own first
//         3. finish  my block is in all outputs
// Cost a PE: 2 steps; (p-1) n bytes stored to peers.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: nothing is reduced.
// Signals: step 1 says that the call before has been left; step 2 publishes my block in every
//          output.
// Source: Graham, Shipman 2008.
#include "collectives/allgather/registry.hpp"
#include "collectives/open_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgather {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  const std::uint64_t block = block_bytes(problem);
  return {2, (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0, 0};
}

void run(Execution& x, const Params&) {
  const std::size_t count = x.problem().count;
  move_in_open_buffers(x, [&] {
    push_block(x, {static_cast<std::size_t>(x.pe()) * count, count});
  });
}

}  // namespace

constinit const Algorithm kSymmetricPush = {
    .collective = Collective::Allgather,
    .name = "symmetric_push",
    .summary = "everyone writes its block straight into all outputs",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::open_buffers,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allgather
