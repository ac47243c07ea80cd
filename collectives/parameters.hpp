// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "collectives/schedule/partition.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail {

// Parameters that several algorithms share; each names those it takes.

inline constexpr std::array<const char*, 2> kStoreNames = {"cached", "stream"};

constexpr Parameter ring_parameter(std::int64_t initial) {
  return {"ring_bytes", 16 << 10, 16 << 20, initial,
          "staging that calls walk through, rounded up to a power of two"};
}
constexpr Parameter chunk_parameter(std::int64_t initial) {
  return {"chunk_bytes", 1 << 10, 4 << 20, initial, "what is staged, published and read as one"};
}
constexpr Parameter lag_parameter(std::int64_t initial) {
  return {"lag", 0, 4, initial, "chunks between writing and reading"};
}
constexpr Parameter store_parameter() {
  return {"store", 0, 1, 0, "how staging is written", kStoreNames};
}

constexpr Parameter results_parameter() {
  return {"results", 0, 1, 0, "how results are written that do not replace the input", kStoreNames};
}

constexpr Parameter slots_parameter() {
  return {"slots", 0, 1024, 0,
          "calls that walk through the ring, if it is large enough, before they come back; 0 = by "
          "size"};
}

constexpr StoreKind store_of(std::int64_t value) {
  return value == 0 ? StoreKind::Cached : StoreKind::Stream;
}

/// What replaces the input lies in the caches already.
inline StoreKind results_of(const Execution& x, std::int64_t value) {
  return x.in() == x.out() ? StoreKind::Cached : store_of(value);
}

constexpr std::size_t ring_of(std::int64_t value) {
  return std::bit_ceil(static_cast<std::size_t>(value));
}
/// Few lines stay in L1; many have left L2, clean, before they are written again: either is better
/// than lines that the peers' L2 still have.
constexpr std::size_t calls_before_reuse(std::size_t bytes) {
  constexpr std::size_t kKi = 1024;
  if (bytes <= 2 * kKi) return 2;
  return bytes <= 4 * kKi ? 32 : 64;  // 256 KiB for each of hundreds of teams; 1 MiB
}
/// The ring for calls that stage `bytes` in `parts` ranges: no larger than `slots` of them need, so
/// that small messages stay in few lines, and hundreds of teams that exchange little cost little.
constexpr std::size_t ring_of(std::int64_t value, std::size_t bytes, std::int64_t slots,
                              std::size_t parts = 1) {
  const std::size_t call = bytes + parts * kGranuleBytes;
  if (call > ring_of(value)) return ring_of(value);
  const std::size_t calls = slots > 0 ? static_cast<std::size_t>(slots) : calls_before_reuse(bytes);
  return std::min(ring_of(value), std::bit_ceil(call * calls));
}

}  // namespace tutti::detail
