// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// How a cycle touches its data: with the widest vectors of this CPU, as the kernels do that
/// produce and consume it in programs. (Narrower stores would also make every contender wait: a
/// load that spans several stores in flight cannot be served from them.)
namespace tutti::bench {

inline constexpr std::size_t kPatternBytes = 64;
using Pattern = std::array<std::byte, kPatternBytes>;

/// Writes `bytes` of a pattern that repeats.
void write_pattern(std::byte* to, const Pattern& pattern, std::size_t bytes);

/// Reads `bytes`: the sum of them as 64-bit words, a rest byte by byte.
std::uint64_t read_all(const std::byte* from, std::size_t bytes);

}  // namespace tutti::bench
