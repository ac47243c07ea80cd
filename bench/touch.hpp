// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// How a cycle touches its data: with the widest vectors of this CPU, as the kernels do that
/// produce and consume it in programs. (Narrower stores would also make every contender wait: a
/// load that spans several stores in flight cannot be served from them.)
namespace tutti::bench {

/// Lines that data are made of: few enough to stay in the first cache beside the data.
inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kLines = 32;
struct alignas(kLineBytes) Lines {
  std::array<std::byte, kLines * kLineBytes> bytes;
};

/// Which of the lines stands where: a sequence that neither repeats nor looks like itself after a
/// shift, because its steps grow by an odd number, modulo 2^64; `seed` says which sequence.
constexpr std::uint64_t kFirstStep = 0x9E3779B97F4A7C15u;
constexpr std::uint64_t kStepGrowth = 0xD1B54A32D192ED03u;
constexpr std::size_t line_at(std::uint64_t seed, std::uint64_t place) noexcept {
  const std::uint64_t pairs = place % 2 == 0 ? place / 2 * (place - 1) : (place - 1) / 2 * place;
  return (seed + place * kFirstStep + pairs * kStepGrowth) >> 59;  // below kLines
}
static_assert(kLines == std::size_t{1} << (64 - 59));

/// Writes `bytes`: at each place of 64 bytes the line that `line_at` says.
void write_lines(std::byte* to, const Lines& lines, std::uint64_t seed, std::size_t bytes);

/// Reads `bytes`: the sum of them as 64-bit words, a rest byte by byte.
std::uint64_t read_all(const std::byte* from, std::size_t bytes);

}  // namespace tutti::bench
