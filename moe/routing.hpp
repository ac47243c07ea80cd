// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "moe/placement.hpp"
#include "tutti/moe.hpp"

namespace tutti::moe {

/// One (token, k) that goes to an expert.
struct Entry {
  std::uint32_t token;
  std::uint32_t k;
  friend bool operator==(const Entry&, const Entry&) = default;
};

/// The first id of a batch that is neither -1 nor an expert.
struct BadId {
  std::uint64_t token;
  std::uint64_t k;
  std::int64_t id;
};

/// Where the (token, k) of one PE's batch go: pure, made from ids and mask alone.
struct Routing {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::size_t tokens = 0;
  std::size_t topk = 0;
  std::vector<std::uint32_t> begin;  ///< [experts + 1], by slot: where its entries begin
  std::vector<Entry> entries;        ///< by slot, then token, then k
  std::vector<std::uint32_t> slot;   ///< [tokens, topk]; kNone = contributes nothing
  std::vector<std::uint32_t> index;  ///< [tokens, topk] among the entries of its slot
  std::vector<std::uint8_t> active;  ///< [tokens]

  /// Makes room for `max_tokens`, so that `route` does not allocate.
  Routing(const Placement& placement, std::size_t max_tokens, std::size_t ids_a_token);

  std::uint32_t rows_for_slots(int first, int last) const noexcept {
    return begin[static_cast<std::size_t>(last)] - begin[static_cast<std::size_t>(first)];
  }
  /// Rows that PE `pe` gets.
  std::uint32_t rows_for(const Placement& placement, int pe) const noexcept {
    return rows_for_slots(placement.first_of(pe), placement.first_of(pe + 1));
  }
};

/// Routes `tokens` tokens. Ids of inactive tokens are not read. If an id is out of range, says
/// which comes first; `routing` is empty then.
std::optional<BadId> route(const Placement& placement, std::size_t tokens, const Ids& ids,
                           const Mask& mask, Routing& routing);

/// Leaves `routing` with no tokens and no entries.
void clear(Routing& routing);

}  // namespace tutti::moe
