// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/schedule/partition.hpp"

namespace tutti::detail {

// Around a ring of `pes`, step s = 0 .. pes - 2; every PE reads from the one before it.

/// The slice that `pe` folds in step s of a reduce-scatter: it ends with slice `pe`.
constexpr int ring_fold_slice(int pe, int step, int pes) noexcept {
  return ring_place(pe, -step - 2, pes);
}
/// The slice that `pe` offers before the first step: its own input of the slice that the next PE
/// folds first.
constexpr int ring_first_slice(int pe, int pes) noexcept { return ring_place(pe, -1, pes); }

/// The block that `pe` takes over in step s of an allgather; it starts with block `pe`.
constexpr int ring_gather_block(int pe, int step, int pes) noexcept {
  return ring_place(pe, -step - 1, pes);
}

constexpr int ring_before(int pe, int pes) noexcept { return ring_place(pe, -1, pes); }

}  // namespace tutti::detail
