// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged: each PE folds its block from
//       everyone's input.
// Phases: 1. arrive  my input is complete
//         2. fold    my block of all inputs, in PE order, into out
//         3. finish  I read no input any more
// Cost a PE: 2 steps; (p-1) times my block loaded, one fold of my block x p.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: the left fold in PE order. In place is safe: my block is the only one that I write, and
//        nobody else reads it.
// Signals: step 1 publishes my input; step 2 says that I have read all that I need of the others'.
// Source: Graham, Shipman 2008.
#include "collectives/counted_blocks.hpp"
#include "collectives/open_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatterv/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatterv {
namespace {

// Of counts as equal as can be; others are not among the facts of a problem.
Traffic traffic(const Problem& problem, const Params&, int pe) {
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t mine = even_count(problem, pe) * element_bytes(problem);
  return {2, 0, (pes - 1) * mine, pes * mine};
}

void run(Execution& x, const Params&) {
  move_in_open_buffers(x, [&] { fold_block(x, x.in_block(x.pe()), x.out()); });
}

}  // namespace

constinit const Algorithm kSymmetricPull = {
    .collective = Collective::ReduceScatterv,
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

}  // namespace tutti::detail::reduce_scatterv
