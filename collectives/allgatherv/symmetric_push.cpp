// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged: each PE writes its block into
//       everyone's output.
// Phases: 1. arrive  my output may be written
//         2. push    my block into all outputs, my own first
//         3. finish  my block is in all outputs
// Cost a PE: 2 steps; my block stored to each peer.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: nothing is reduced.
// Signals: step 1 says that the call before has been left; step 2 publishes my block in every
//          output.
// Source: MPI Forum, MPI 4.0, section 6.7 (the operation); Graham, Shipman 2008.
#include "collectives/allgatherv/registry.hpp"
#include "collectives/counted_blocks.hpp"
#include "collectives/open_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgatherv {
namespace {

// Of counts as equal as can be; others are not among the facts of a problem.
Traffic traffic(const Problem& problem, const Params&, int pe) {
  const std::uint64_t mine = even_count(problem, pe) * element_bytes(problem);
  return {2, (static_cast<std::uint64_t>(problem.pes) - 1) * mine, 0, 0};
}

void run(Execution& x, const Params&) {
  move_in_open_buffers(x, [&] { push_block(x, x.out_block(x.pe())); });
}

}  // namespace

constinit const Algorithm kSymmetricPush = {
    .collective = Collective::Allgatherv,
    .name = "symmetric_push",
    .summary = "everyone writes its block straight into all outputs",
    .source = "MPI 4.0, section 6.7",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::open_buffers,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allgatherv
