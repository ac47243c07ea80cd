// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tutti::detail {

// A tree in which PE 0 is the root and each PE has up to `fanout` children, numbered level by
// level.

constexpr int kary_parent(int pe, int fanout) noexcept { return pe == 0 ? -1 : (pe - 1) / fanout; }
constexpr int kary_first_child(int pe, int fanout) noexcept { return pe * fanout + 1; }
constexpr int kary_children(int pe, int fanout, int pes) noexcept {
  const int left = pes - kary_first_child(pe, fanout);
  return left < 0 ? 0 : left < fanout ? left : fanout;
}

}  // namespace tutti::detail
