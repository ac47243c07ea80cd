// SPDX-License-Identifier: Apache-2.0
//
// Idea: among threads of one process nothing is staged: the root copies every block. (Symmetric
//       tensors would not do between processes: on the root in place, the input is in another one.)
// Phases: 1. arrive  my block is complete
//         2. pull    the root copies all blocks into out
//         3. finish  the others wait until the root has read theirs
// Cost a PE: 1 step, the root 2; (p-1) n bytes loaded by the root.
// Needs: PEs that are threads of one process; no scratch.
// Order: nothing is reduced.
// Signals: step 1 publishes my block; the root's step 2 says that it has read all of them.
// Source: Graham, Shipman 2008.
#include "collectives/gather/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::gather {
namespace {

Traffic traffic(const Problem& problem, const Params&, int pe) {
  if (pe != 0) return {1, 0, 0, 0};
  return {2, 0, (static_cast<std::uint64_t>(problem.pes) - 1) * block_bytes(problem), 0};
}

void pull(Execution& x) {
  const std::size_t block = block_bytes(x.problem());
  for (int pe = 0; pe < x.pes(); ++pe) {
    x.copy(x.out() + static_cast<std::size_t>(pe) * block, x.read_in(pe, 0, block), block);
  }
}

void run(Execution& x, const Params&) {
  x.open_buffers();
  if (x.pe() != x.root()) return x.await(x.root(), 2);
  pull(x);
  x.publish(2);
}

}  // namespace

constinit const Algorithm kPull = {
    .collective = Collective::Gather,
    .name = "pull",
    .summary = "the root copies straight from all inputs",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = {},
    .supports = needs::shared_address_space,
    .scratch_bytes = needs::no_scratch,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::gather
