// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tutti::detail {

struct Part {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// What is staged apart, so that it shares no line with its neighbours: the unit that the
/// adjacent-line prefetcher moves.
inline constexpr std::size_t kGranuleBytes = 128;
constexpr std::size_t whole_granules(std::size_t bytes) noexcept {
  return (bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
}

constexpr std::size_t elements_of_granule(std::size_t element_bytes) noexcept {
  return element_bytes < kGranuleBytes ? kGranuleBytes / element_bytes : 1;
}

/// Part `i` of `n` things in `parts` parts: sizes differ by at most one, and may be 0.
constexpr Part part_of(std::size_t i, std::size_t parts, std::size_t n) noexcept {
  const std::size_t each = n / parts;
  const std::size_t longer = n % parts;  // the first parts get one more
  return {i * each + (i < longer ? i : longer), each + (i < longer ? 1 : 0)};
}

/// The same in whole granules, so that no two parts share a line; the last part takes what is
/// left of the last granule.
constexpr Part part_of(std::size_t i, std::size_t parts, std::size_t n,
                       std::size_t granule) noexcept {
  const std::size_t granules = n / granule + (n % granule != 0 ? 1 : 0);
  const Part in_granules = part_of(i, parts, granules);
  const std::size_t begin = in_granules.begin * granule;
  const std::size_t end = (in_granules.begin + in_granules.size) * granule;
  return {begin < n ? begin : n, (end < n ? end : n) - (begin < n ? begin : n)};
}

/// Pieces of at most `size`, at least one even if there is nothing: piece `i` of `n` things.
constexpr std::size_t pieces(std::size_t n, std::size_t size) noexcept {
  return n == 0 ? 1 : (n - 1) / size + 1;
}
constexpr Part piece_of(std::size_t i, std::size_t n, std::size_t size) noexcept {
  const std::size_t begin = i * size;
  return {begin, begin >= n ? 0 : (n - begin < size ? n - begin : size)};
}

/// The neighbour `distance` places up (or down, if negative) a ring of `pes`.
constexpr int ring_place(int pe, int distance, int pes) noexcept {
  const int place = (pe + distance) % pes;
  return place < 0 ? place + pes : place;
}

}  // namespace tutti::detail
