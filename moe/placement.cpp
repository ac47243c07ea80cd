// SPDX-License-Identifier: Apache-2.0
#include "moe/placement.hpp"

#include <algorithm>
#include <cstddef>

#include "collectives/schedule/partition.hpp"

namespace tutti::moe {
namespace {

std::vector<int> blocks(int experts, int pes) {
  std::vector<int> table;
  for (int pe = 0; pe < pes; ++pe) {
    const auto part = detail::part_of(static_cast<std::size_t>(pe), static_cast<std::size_t>(pes),
                                      static_cast<std::size_t>(experts));
    table.insert(table.end(), part.size, pe);
  }
  return table;
}

}  // namespace

std::span<const int> Placement::experts_of(int pe) const noexcept {
  return std::span(expert_of).subspan(static_cast<std::size_t>(first_of(pe)),
                                      static_cast<std::size_t>(local(pe)));
}

Placement place(int experts, int pes, std::span<const int> table) {
  std::vector<int> balanced;
  if (table.empty()) {
    balanced = blocks(experts, pes);
    table = balanced;
  }
  Placement placement;
  placement.experts = experts;
  placement.pes = pes;
  placement.slot_of.resize(table.size());
  for (int pe = 0; pe < pes; ++pe) {
    placement.first_slot.push_back(static_cast<int>(placement.owner.size()));
    for (int expert = 0; expert < experts; ++expert) {
      if (table[static_cast<std::size_t>(expert)] != pe) continue;
      placement.slot_of[static_cast<std::size_t>(expert)] =
          static_cast<int>(placement.owner.size());
      placement.owner.push_back(pe);
      placement.expert_of.push_back(expert);
    }
  }
  placement.first_slot.push_back(experts);
  for (int pe = 0; pe < pes; ++pe) {
    placement.most_local = std::max(placement.most_local, placement.local(pe));
  }
  return placement;
}

}  // namespace tutti::moe
