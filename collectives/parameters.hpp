// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tutti/algorithm.hpp"

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

constexpr StoreKind store_of(std::int64_t value) {
  return value == 0 ? StoreKind::Cached : StoreKind::Stream;
}

constexpr std::size_t ring_of(std::int64_t value) {
  return std::bit_ceil(static_cast<std::size_t>(value));
}

}  // namespace tutti::detail
