// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::rooted_pieces {

// A vector that goes through the staging rings in pieces, towards a root or away from it: what
// broadcast, reduce and gather have in common. Whoever is ahead is held back by the ring alone.

enum : std::size_t { kRingBytes, kChunkBytes, kStore };
inline constexpr std::array<Parameter, 3> kParameters = {
    ring_parameter(2 << 20), chunk_parameter(1 << 18), store_parameter()};

/// Calls that walk through the ring: more than are ever in flight, for the root runs ahead of
/// readers, or they of it.
inline constexpr std::int64_t kSlots = 32;

inline std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return std::max(ring_of(params[kRingBytes], problem.count * element_bytes(problem), kSlots),
                  Pipeline::least_ring(element_bytes(problem), 0));
}

inline Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(problem.count, element_bytes(problem),
                        static_cast<std::size_t>(params[kChunkBytes]), 0,
                        scratch_bytes(problem, params));
}

/// Everyone but the root stages its input, `mine` elements, for the root. Piece k is published by
/// step k + 1, also where it is empty; the root takes it by take(k, piece, range), which awaits
/// whom it reads. `plan`, equal on all PEs, is that of the longest input.
/// `consumed` k + 1 says that the root has taken piece k, raised only if that is longer than the
/// ring; the others never read, and say so once.
template <class Take>
void to_root(Execution& x, const Pipeline& plan, std::size_t mine, StoreKind store, Take&& take) {
  const std::size_t element = element_bytes(x.problem());
  const bool is_root = x.pe() == x.root();
  if (is_root) x.publish(1);  // nothing is read from me; that I am here lets the others go on
  for (std::size_t k = 0; k < plan.chunks; ++k) {
    const Part piece = plan.part(k);
    const Staged range = x.reserve(piece.size * element, k + 1);  // by all, at equal positions
    if (is_root) {
      take(k, piece, range);
      if (plan.wraps) x.consumed(k + 1);
      continue;
    }
    const std::size_t bytes = piece_of(k, mine, plan.chunk).size * element;
    x.stage(range, 0, x.in() + piece.begin * element, bytes, store, x.root());
    x.publish(k + 1);
    if (plan.wraps && k == 0) x.consumed(plan.chunks);
  }
}

/// The same where all inputs are equally long.
template <class Take>
void to_root(Execution& x, const Params& params, Take&& take) {
  const Pipeline plan = pipeline(x.problem(), params);
  to_root(x, plan, plan.count, store_of(params[kStore]), take);
}

/// What staging and taking cost; the algorithm adds its folds. The root is PE 0.
inline Traffic to_root_traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const std::uint64_t bytes = problem.count * element_bytes(problem);
  const std::uint64_t others = static_cast<std::uint64_t>(problem.pes) - 1;
  if (pe != 0) return {plan.chunks + (plan.wraps ? 1 : 0), bytes, 0, 0};
  return {1 + (plan.wraps ? plan.chunks : 0), 0, others * bytes, 0};
}

}  // namespace tutti::detail::rooted_pieces
