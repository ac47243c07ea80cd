// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tutti::bench {

/// A copy as one would write it by hand for data that nobody here reads again: past the cache where
/// the instruction set has such stores, else as memcpy.
inline void stream_copy(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
  std::size_t at = 0;
#if defined(__SSE2__)
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % 64;
  at = head < bytes ? head : bytes;
  std::memcpy(to, from, at);
  for (; bytes - at >= 64; at += 64) {
    const auto* in = reinterpret_cast<const __m128i*>(from + at);
    auto* out = reinterpret_cast<__m128i*>(to + at);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(out + i, _mm_loadu_si128(in + i));
  }
  _mm_sfence();
#endif
  std::memcpy(to + at, from + at, bytes - at);
}

}  // namespace tutti::bench
