// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged: each PE folds its block from
//       everyone's input.
// Phases: 1. arrive  my input is complete
//         2. fold    my block of all inputs, in PE order, into out
//         3. finish  I read no input any more
// Cost a PE: 2 steps; (p-1) n bytes loaded, one fold of n x p.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: the left fold in PE order. In place is safe: my block is the only one that I write, and
//        nobody else reads it.
// Signals: step 1 publishes my input; step 2 says that I have read all that I need of the others'.
// Source: Graham, Shipman 2008.
#include "collectives/open_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatter {
namespace {

Traffic traffic(const Problem& problem, const Params&, int) {
  const std::uint64_t block = block_bytes(problem);
  return {2, 0, (static_cast<std::uint64_t>(problem.pes) - 1) * block, bytes_of(problem)};
}

void run(Execution& x, const Params&) {
  const std::size_t count = x.problem().count;
  move_in_open_buffers(x, [&] {
    fold_block(x, {static_cast<std::size_t>(x.pe()) * count, count}, x.out());
  });
}

}  // namespace

constinit const Algorithm kSymmetricPull = {
    .collective = Collective::ReduceScatter,
    .name = "symmetric_pull",
    .summary = "owners fold their block straight from all inputs",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::open_buffers,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce_scatter
