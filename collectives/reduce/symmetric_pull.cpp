// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged: the root folds all inputs at once.
// Phases: 1. arrive  my input is complete
//         2. fold    the root folds all inputs, in PE order, into out
//         3. finish  the others wait until the root has read theirs
// Cost a PE: 1 step, the root 2; (p-1) n bytes loaded and one fold of p sources by the root.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: the left fold in PE order.
// Signals: step 1 publishes my input; the root's step 2 says that it has read all of them.
// Source: Graham, Shipman 2008.
#include "collectives/open_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/reduce/registry.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  if (pe != 0) return {1, 0, 0, 0};
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  return {2, 0, (pes - 1) * bytes_of(problem), pes * bytes_of(problem)};
}

void run(Execution& x, const Params&) {
  x.open_buffers();
  if (x.pe() != x.root()) return x.await(x.root(), 2);
  fold_block(x, {0, x.problem().count}, x.out());
  x.publish(2);
}

}  // namespace

constinit const Algorithm kSymmetricPull = {
    .collective = Collective::Reduce,
    .name = "symmetric_pull",
    .summary = "the root folds straight from all inputs",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::open_buffers,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce
