// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "collectives/schedule/partition.hpp"

namespace tutti::detail {

/// Place of `pe` in a binomial tree: 0 is the root; the parent of place v is v without its highest
/// bit, so place v hears from it in round floor(log2 v) and then tells v + 2^r in later rounds.
constexpr int binomial_place(int pe, int root, int pes) noexcept {
  return ring_place(pe, -root, pes);
}

/// The PE that `pe` reads from; -1 for the root.
constexpr int binomial_parent(int pe, int root, int pes) noexcept {
  const auto place = static_cast<unsigned>(binomial_place(pe, root, pes));
  if (place == 0) return -1;
  return ring_place(static_cast<int>(place - std::bit_floor(place)), root, pes);
}

/// Whether anyone reads from `pe`.
constexpr bool binomial_has_children(int pe, int root, int pes) noexcept {
  const auto place = static_cast<unsigned>(binomial_place(pe, root, pes));
  const unsigned first = place == 0 ? 1 : place + 2 * std::bit_floor(place);
  return first < static_cast<unsigned>(pes);
}

/// How many PEs have `pe` for their parent.
constexpr int binomial_children(int pe, int root, int pes) noexcept {
  const auto place = static_cast<unsigned>(binomial_place(pe, root, pes));
  int children = 0;
  for (unsigned bit = place == 0 ? 1 : 2 * std::bit_floor(place);
       place + bit < static_cast<unsigned>(pes); bit *= 2) {
    ++children;
  }
  return children;
}

/// How far from the root a PE is at most.
constexpr int binomial_depth(int pes) noexcept {
  return pes < 2 ? 0 : std::bit_width(static_cast<unsigned>(pes) - 1);
}

/// Child `i` of `pe`; the first has the most below it.
constexpr int binomial_child(int pe, int i, int root, int pes) noexcept {
  const auto place = static_cast<unsigned>(binomial_place(pe, root, pes));
  const unsigned bit = (place == 0 ? 1 : 2 * std::bit_floor(place)) << i;
  return ring_place(static_cast<int>(place + bit), root, pes);
}

}  // namespace tutti::detail
