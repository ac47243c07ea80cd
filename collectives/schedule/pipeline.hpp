// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "collectives/schedule/partition.hpp"

namespace tutti::detail {

/// How a vector goes through a staging ring in chunks, with `lag` chunks between writing and
/// reading. One function gives sizes and counts, so no two places disagree.
struct Pipeline {
  std::size_t count = 0;   ///< elements of the vector
  std::size_t chunk = 1;   ///< elements of a chunk
  std::size_t chunks = 1;  ///< at least one
  std::size_t lag = 0;
  bool wraps = false;  ///< whether ring bytes are used twice in one call

  /// The smallest ring in which every chunk can have an element; arguments as of `plan`.
  static constexpr std::size_t least_ring(std::size_t element_bytes, std::size_t lag,
                                          std::size_t staged_per_chunk = 1, std::size_t parts = 1) {
    return std::bit_ceil((lag + 2) *
                         (staged_per_chunk * element_bytes + padding_of(element_bytes, parts)));
  }

  /// `ring_bytes` is at least `least_ring`. `staged_per_chunk`: ring bytes that a chunk of one byte
  /// needs at most, times `parts` ranges.
  static constexpr Pipeline plan(std::size_t count, std::size_t element_bytes,
                                 std::size_t chunk_bytes, std::size_t lag, std::size_t ring_bytes,
                                 std::size_t staged_per_chunk = 1, std::size_t parts = 1) {
    const std::size_t padding = padding_of(element_bytes, parts);
    // One chunk needs the room of two calls: who has arrived has left the last but one. Small
    // calls, in which each division shows, are decided here.
    const std::size_t whole = count * element_bytes;
    if (whole <= chunk_bytes && 2 * (whole * staged_per_chunk + padding) <= ring_bytes) {
      return {count, std::max<std::size_t>(1, count), 1, lag, false};
    }
    // lag + 1 chunks are in flight, and one more range may be skipped at the ring's end.
    const std::size_t share = ring_bytes / (lag + 2);
    const std::size_t most = (share > padding ? share - padding : 0) / staged_per_chunk;
    const std::size_t bytes = std::max(std::min(chunk_bytes, most), element_bytes);
    Pipeline plan;
    plan.count = count;
    plan.chunk = std::max<std::size_t>(1, bytes / element_bytes);
    if (plan.chunk * element_bytes > kGranuleBytes) {
      plan.chunk = plan.chunk * element_bytes / kGranuleBytes * kGranuleBytes / element_bytes;
    }
    plan.chunk = std::max<std::size_t>(1, std::min(plan.chunk, count));
    plan.chunks = pieces(count, plan.chunk);
    plan.lag = lag;
    const std::size_t each = plan.chunk * element_bytes * staged_per_chunk + padding;
    plan.wraps = plan.chunks > ring_bytes / each - 1;
    return plan;
  }

  constexpr Part part(std::size_t i) const { return piece_of(i, count, chunk); }

 private:
  /// A range is rounded up to lines, and the longest slice to a granule or to an element.
  static constexpr std::size_t padding_of(std::size_t element_bytes, std::size_t parts) {
    return parts * std::max(kGranuleBytes, element_bytes);
  }
};

}  // namespace tutti::detail
