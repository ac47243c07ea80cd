// SPDX-License-Identifier: Apache-2.0
//
// Idea: where peers' buffers can be reached nothing is staged. Each PE owns a slice of the vector,
//       folds it from everyone's input and writes the result into everyone's output in one pass.
// Phases: 1. arrive  my input is complete, my output may be written
//         2. push    fold my slice of all inputs into all outputs
//         3. finish  my slice is in all outputs
// Cost a PE: 2 steps; (p-1)/p n bytes loaded, (p-1)/p n stored to peers, one fold of n/p x p.
// Needs: symmetric tensors that are reached by load and store, or PEs that are threads of one
//        process; no scratch.
// Order: the left fold in PE order, computed once and written everywhere.
// Signals: step 1 publishes my input; step 2 publishes my slice of every output, and says that I
//          read no input any more.
// Source: Graham, Shipman, "MPI Support for Multi-core Architectures" (2008); "two-shot" in
//         TensorRT-LLM.
#include "collectives/allreduce/registry.hpp"
#include "collectives/open_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/schedule/partition.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  const auto others = static_cast<std::uint64_t>(problem.pes) - 1;
  const std::uint64_t bytes = slice_of(problem, problem.count, pe).size * element_bytes(problem);
  return {2, others * bytes, others * bytes, (others + 1) * bytes};
}

void push(Execution& x) {
  const Part mine = slice_of(x.problem(), x.problem().count, x.pe());
  const std::size_t element = element_bytes(x.problem());
  const auto sources = x.sources();
  const auto targets = x.targets();
  for (int pe = 0; pe < x.pes(); ++pe) {
    const auto i = static_cast<std::size_t>(pe);
    sources[i] = x.read_in(pe, mine.begin * element, mine.size * element);
    targets[i] = x.write_out(pe, mine.begin * element, mine.size * element);
  }
  x.fold(targets, sources, mine.size);
}

void run(Execution& x, const Params&) {
  move_in_open_buffers(x, [&] { push(x); });
}

}  // namespace

constinit const Algorithm kSymmetricPush = {
    .collective = Collective::Allreduce,
    .name = "symmetric_push",
    .summary = "fold my slice of all inputs straight into all outputs",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::open_buffers,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allreduce
