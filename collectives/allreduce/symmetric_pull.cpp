// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged. Each PE owns a slice of the vector
//       and folds it from everyone's input into its own output, where the others fetch it. Nobody
//       writes what is not its own.
// Phases: 1. arrive  my input is complete
//         2. fold    my slice of all inputs, in PE order, into my output
//         3. gather  the others' slices from their outputs
//         4. finish  I read no output any more
// Cost a PE: 3 steps; 2 (p-1)/p n bytes loaded, one fold of n/p x p.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: the left fold in PE order, computed once and copied everywhere. In place is safe: my slice
//        is the only one that I write before all have folded theirs.
// Signals: step 1 publishes my input; step 2 publishes my slice of my output, and says that I read
//          no input any more; step 3 says that I read no output any more.
// Source: Rabenseifner 2004 (reduce-scatter, then allgather); Graham, Shipman 2008.
#include "collectives/allreduce/registry.hpp"
#include "collectives/open_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/schedule/partition.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t bytes = bytes_of(problem);
  const std::uint64_t mine = slice_of(problem, problem.count, pe).size * element_bytes(problem);
  return {3, 0, (pes - 1) * mine + bytes - mine, pes * mine};
}

void fold(Execution& x) {
  const Part mine = slice_of(x.problem(), x.problem().count, x.pe());
  fold_block(x, {mine.begin, mine.size}, x.out() + mine.begin * element_bytes(x.problem()));
}

void gather(Execution& x) {
  const std::size_t element = element_bytes(x.problem());
  for (int i = 1; i < x.pes(); ++i) {
    const int owner = ring_place(x.pe(), i, x.pes());  // not all from PE 0 at once
    const Part slice = slice_of(x.problem(), x.problem().count, owner);
    const std::size_t offset = slice.begin * element;
    const std::size_t bytes = slice.size * element;
    x.copy(x.out() + offset, x.read_out(owner, offset, bytes), bytes);
  }
}

void run(Execution& x, const Params&) {
  move_in_open_buffers(x, [&] { fold(x); });
  gather(x);
  x.publish(3);
  x.await_all(3);
}

}  // namespace

constinit const Algorithm kSymmetricPull = {
    .collective = Collective::Allreduce,
    .name = "symmetric_pull",
    .summary = "fold my slice of all inputs, fetch the other slices from their owners' outputs",
    .source = "Rabenseifner 2004",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::open_buffers,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allreduce
