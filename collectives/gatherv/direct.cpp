// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone but the root stages its block; the root copies all of them. Short blocks have
//       empty pieces at the end.
// Phases: 1. stage  the others copy piece k of their block into their rings: step k + 1
//         2. take   the root copies piece k of every block into out
// Cost a PE: ceil(longest / chunk) steps; my block stored by the others, all of them loaded by the
//            root.
// Needs: any p, any counts, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 publishes piece k; the root's step 1 says no more than that it is here.
//          `consumed` k + 1 of the root says that it has copied piece k of all blocks, raised only
//          if the longest block is longer than the ring.
// Source: MPI Forum, MPI 4.0, section 6.5 (the operation); Graham, Shipman 2008 (shared-memory
//         fan-in).
#include "collectives/counted_blocks.hpp"
#include "collectives/gatherv/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/rooted_pieces.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::gatherv {
namespace {

using rooted_pieces::kStore;

Pipeline pipeline(std::size_t longest, const Problem& problem, const Params& params) {
  return Pipeline::plan(longest, element_bytes(problem),
                        static_cast<std::size_t>(params[rooted_pieces::kChunkBytes]), 0,
                        rooted_pieces::scratch_bytes(problem, params));
}

// Of counts as equal as can be; others are not among the facts of a problem.
Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(even_count(problem, 0), problem, params);
  const std::uint64_t mine = even_count(problem, pe) * element_bytes(problem);
  if (pe != 0) return {plan.chunks + (plan.wraps ? 1 : 0), mine, 0, 0};
  return {1 + (plan.wraps ? plan.chunks : 0), 0, bytes_of(problem) - mine, 0};
}

void take(Execution& x, const Pipeline& plan, std::size_t k, const Staged& range) {
  const std::size_t element = element_bytes(x.problem());
  for (int pe = 0; pe < x.pes(); ++pe) {
    const BlockRange block = x.out_block(pe);
    const Part piece = piece_of(k, block.size, plan.chunk);
    const std::size_t bytes = piece.size * element;
    x.await(pe, k + 1);
    const std::byte* from =
        pe == x.pe() ? x.in() + piece.begin * element : x.read(pe, range, 0, bytes);
    x.copy(x.out() + (block.begin + piece.begin) * element, from, bytes);
  }
}

void run(Execution& x, const Params& params) {
  const Pipeline plan = pipeline(longest_block(x), x.problem(), params);
  rooted_pieces::to_root(
      x, plan, x.in_block(x.pe()).size, store_of(params[kStore]),
      [&](std::size_t k, const Part&, const Staged& range) { take(x, plan, k, range); });
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Gatherv,
    .name = "direct",
    .summary = "everyone stages its block, the root copies all of them",
    .source = "Graham, Shipman 2008",
    .keeps_ordered = true,
    .parameters = rooted_pieces::kParameters,
    .supports = needs::nothing,
    .scratch_bytes = rooted_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::gatherv
