// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>

#include "collectives/schedule/partition.hpp"

namespace tutti::detail {

constexpr bool is_power_of_two(int pes) noexcept {
  return std::has_single_bit(static_cast<unsigned>(pes));
}

/// Rounds in which something that doubles reaches `pes`: log2, rounded up.
constexpr int doubling_rounds(int pes) noexcept {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(pes) - 1));
}

// Allgathers by doubling. A PE has 2^r blocks before round r, in places 0, 1, ...; in round r it
// takes over what the PE has whose own block comes next. Where blocks stand is a group operation:
// pe + place around the ring (Bruck), or pe xor place (recursive doubling, powers of two only).

constexpr int bruck_block(int pe, int place, int pes) noexcept {
  return ring_place(pe, place, pes);
}
constexpr int xor_block(int pe, int place, int) noexcept { return pe ^ place; }

/// How many blocks are taken over in a round: all that are there, or all that are still missing.
constexpr int doubling_blocks(int round, int pes) noexcept {
  const int have = 1 << round;
  return pes - have < have ? pes - have : have;
}

/// Halving (powers of two): in round r the group of 2 d PEs around `pe`, d = pes / 2^(r+1), splits;
/// the PE keeps the half that it is in, and its partner stands as far into the other half.
struct Halving {
  int half;     ///< d
  int group;    ///< first of the group
  int mine;     ///< first of the half that I keep
  int theirs;   ///< first of the half that the partner keeps
  int partner;  ///< pe xor d

  static constexpr Halving of(int pe, int round, int pes) noexcept {
    const int d = pes >> (round + 1);
    const int mine = pe / d * d;
    return {d, pe / (2 * d) * (2 * d), mine, mine ^ d, pe ^ d};
  }
};

/// Doubling back (powers of two): in round r, the group of 2^r around the partner.
constexpr int doubling_partner(int pe, int round) noexcept { return pe ^ (1 << round); }
constexpr int doubling_group(int pe, int round) noexcept { return pe >> round << round; }

/// Where the number of PEs is no power of two, the `extras` behind the largest one give their input
/// to a PE in front, and get the result from it.
struct Extras {
  int core;  ///< the largest power of two

  static constexpr Extras of(int pes) noexcept {
    return {static_cast<int>(std::bit_floor(static_cast<unsigned>(pes)))};
  }
  constexpr bool any(int pes) const noexcept { return core < pes; }
  constexpr bool is_extra(int pe) const noexcept { return pe >= core; }
  /// Whom an extra gives to.
  constexpr int keeper(int pe) const noexcept { return pe - core; }
  /// The extra of a PE in front, or -1.
  constexpr int extra(int pe, int pes) const noexcept { return pe + core < pes ? pe + core : -1; }
};

}  // namespace tutti::detail
