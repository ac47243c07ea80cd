// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

namespace tutti::detail {

// Bruck's alltoall. Block j of a PE is what it has for the PE j places up the ring. In round r all
// blocks whose number has bit r move 2^r places up; after all rounds, block j has moved j places.

constexpr bool bruck_moves(int block, int round) noexcept { return (block >> round & 1) != 0; }

/// How many of blocks 0 .. `blocks` - 1 move in a round; so also the place of block `blocks`, if it
/// moves, among those that do.
constexpr int bruck_moving(int blocks, int round) noexcept {
  const int bit = 1 << round;
  const int rest = blocks % (2 * bit);
  return blocks / (2 * bit) * bit + (rest > bit ? rest - bit : 0);
}

/// The last round before `round` in which a block moved, or -1 if it is still where it was.
constexpr int bruck_came(int block, int round) noexcept {
  const auto moved = static_cast<unsigned>(block) & ((1u << round) - 1);
  return static_cast<int>(std::bit_width(moved)) - 1;
}

}  // namespace tutti::detail
