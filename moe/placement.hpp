// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::moe {

/// Which expert lives where. Experts are numbered again as *slots*: by PE, then by expert, so that
/// the experts of one PE are one range of slots. Pure: the same on all PEs.
struct Placement {
  int experts = 0;
  int pes = 0;
  int most_local = 0;           ///< most experts of one PE
  std::vector<int> slot_of;     ///< [experts]
  std::vector<int> owner;       ///< [experts], by slot
  std::vector<int> expert_of;   ///< [experts], by slot
  std::vector<int> first_slot;  ///< [pes + 1]

  int local(int pe) const noexcept { return first_of(pe + 1) - first_of(pe); }
  int first_of(int pe) const noexcept { return first_slot[static_cast<std::size_t>(pe)]; }
  std::span<const int> experts_of(int pe) const noexcept;
};

/// `table` [experts] gives the PE of each expert; if it is empty, PE i gets the i-th of `pes`
/// contiguous blocks whose sizes differ by at most one. Entries are in 0..pes-1.
Placement place(int experts, int pes, std::span<const int> table);

}  // namespace tutti::moe
