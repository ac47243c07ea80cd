// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/schedule/partition.hpp"

namespace tutti::detail {

/// Whom `pe` exchanges with in round 0 .. pes - 1: in every round each PE has one partner, whose
/// partner it is; over all rounds each PE meets every PE once, itself included.
constexpr int pair_partner(int pe, int round, int pes) noexcept {
  return ring_place(round, -pe, pes);
}

}  // namespace tutti::detail
