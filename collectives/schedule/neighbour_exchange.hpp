// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/schedule/partition.hpp"

namespace tutti::detail {

// Neighbour exchange: an allgather of an even number of PEs in pes / 2 steps. PEs 2 j and 2 j + 1
// are pair j. In step 0 the two of a pair exchange their own blocks; from then on, whole pairs of
// blocks travel along the ring of PEs in both directions, since a PE exchanges with its two
// neighbours in turn and passes on to one what the other has just given.

constexpr int neighbour_steps(int pes) noexcept { return pes / 2; }

/// 1 or -1: whether `pe` exchanges with the PE after or before it in a step. Its neighbour looks
/// the other way.
constexpr int neighbour_side(int pe, int step) noexcept { return pe % 2 == step % 2 ? 1 : -1; }
constexpr int neighbour_partner(int pe, int step, int pes) noexcept {
  return ring_place(pe, neighbour_side(pe, step), pes);
}

/// The pair of blocks that `pe` takes over in a step after step 0: on each side the next one.
constexpr int neighbour_pair(int pe, int step, int pes) noexcept {
  return ring_place(pe / 2, neighbour_side(pe, step) * ((step + 1) / 2), pes / 2);
}

}  // namespace tutti::detail
