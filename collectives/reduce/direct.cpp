// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone but the root stages its vector; the root folds all of them in one pass.
// Phases: 1. stage  the others copy piece k into their rings and publish it as step k + 1
//         2. fold   the root folds its own input and all staging, in PE order, into out
// Cost a PE: ceil(n / chunk) steps; n bytes stored by the others; (p-1) n loaded by the root, one
//            fold of p sources.
// Needs: any p, any count, any root; a ring of `ring_bytes`.
// Order: the left fold in PE order.
// Signals: step k + 1 publishes piece k; the root's step 1 says no more than that it is here.
//          `consumed` k + 1 of the root says that it has folded piece k, raised only if the vector
//          is longer than the ring. The others may run ahead of the root: by rule R1 at most eight
//          calls.
// Source: Graham, Shipman 2008 (shared-memory fan-in).
#include "collectives/problem_facts.hpp"
#include "collectives/reduce/registry.hpp"
#include "collectives/rooted_pieces.hpp"

namespace tutti::detail::reduce {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  Traffic sum = rooted_pieces::to_root_traffic(problem, params, pe);
  if (pe == 0) sum.bytes_folded = static_cast<std::uint64_t>(problem.pes) * bytes_of(problem);
  return sum;
}

void fold(Execution& x, std::size_t k, const Part& piece, const Staged& range) {
  const std::size_t element = element_bytes(x.problem());
  x.await_all(k + 1);
  const auto sources = x.sources();
  for (int pe = 0; pe < x.pes(); ++pe) {
    sources[static_cast<std::size_t>(pe)] =
        pe == x.pe() ? x.in() + piece.begin * element : x.read(pe, range, 0, piece.size * element);
  }
  x.fold(x.out() + piece.begin * element, sources, piece.size);
}

void run(Execution& x, const Params& params) {
  rooted_pieces::to_root(x, params, [&](std::size_t k, const Part& piece, const Staged& range) {
    fold(x, k, piece, range);
  });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Reduce,
    .name = "direct",
    .summary = "everyone stages its vector, the root folds all of them",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = rooted_pieces::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = rooted_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce
