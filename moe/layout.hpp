// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "primitives/control.hpp"

namespace tutti::moe {

/// What a PE says of its own arguments, at the head of what it publishes.
enum class Verdict : std::uint64_t { Good, BadId, Refused };

/// Head of what a PE publishes in a dispatch; `rows_for` [pes] u32 follows: how many rows each PE
/// gets from it.
struct DispatchHead {
  Verdict verdict;
  std::uint64_t token;  ///< of the bad id
  std::uint64_t k;
  std::int64_t id;
};

/// Head of what a PE publishes in a combine for one reader; `base` [most local experts] u32
/// follows: the first row of the reader's tokens in each local expert's rows.
struct CombineHead {
  Verdict verdict;
};

inline constexpr std::size_t kTextBytes = 256;  ///< why a PE refuses, with its final zero

/// Where things are in a plan's symmetric memory: byte offsets, equal on all PEs. Everything begins
/// on lines of its own.
struct SharedLayout {
  struct Dispatch {
    std::size_t head;     ///< DispatchHead, rows_for [pes]
    std::size_t begin;    ///< [experts + 1] u32: `Routing::begin`
    std::size_t entries;  ///< [max_tokens * topk] Entry
    std::size_t tokens;   ///< [max_tokens, hidden]
    std::size_t text;     ///< [kTextBytes]
  };
  struct Combine {
    std::size_t heads;  ///< [pes] of CombineHead, base [most local experts]
    std::size_t text;   ///< [kTextBytes]
  };

  std::array<Dispatch, 2> dispatch{};  ///< of even and odd dispatches
  std::array<Combine, 2> combine{};    ///< of even and odd combines
  std::size_t head_bytes = 0;          ///< of one CombineHead with its bases, in whole lines
  std::size_t outputs = 0;             ///< [max_rows with padding, hidden]
  std::size_t bytes = 0;

  std::size_t head_for(std::size_t parity, int reader) const noexcept {
    return combine[parity].heads + head_bytes * static_cast<std::size_t>(reader);
  }
};

struct LayoutSizes {
  std::size_t pes;
  std::size_t experts;
  std::size_t most_local;
  std::size_t max_tokens;
  std::size_t topk;
  std::size_t row_bytes;
  std::size_t padded_rows;
};

constexpr SharedLayout lay_out(const LayoutSizes& sizes) noexcept {
  SharedLayout layout;
  const auto take = [&layout](std::size_t bytes) {
    const std::size_t at = layout.bytes;
    layout.bytes += (bytes + detail::kLine - 1) / detail::kLine * detail::kLine;
    return at;
  };
  const std::size_t word = sizeof(std::uint32_t);
  for (SharedLayout::Dispatch& each : layout.dispatch) {
    each.head = take(sizeof(DispatchHead) + word * sizes.pes);
    each.begin = take(word * (sizes.experts + 1));
    each.entries = take(2 * word * sizes.max_tokens * sizes.topk);
    each.tokens = take(sizes.max_tokens * sizes.row_bytes);
    each.text = take(kTextBytes);
  }
  const std::size_t head = sizeof(CombineHead) + word * sizes.most_local;
  layout.head_bytes = (head + detail::kLine - 1) / detail::kLine * detail::kLine;
  for (SharedLayout::Combine& each : layout.combine) {
    each.heads = take(layout.head_bytes * sizes.pes);
    each.text = take(kTextBytes);
  }
  layout.outputs = take(sizes.padded_rows * sizes.row_bytes);
  return layout;
}

}  // namespace tutti::moe
