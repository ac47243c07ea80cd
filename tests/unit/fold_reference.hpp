// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::tests {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class T>
using Wide = std::conditional_t<is_half<T>, float, T>;

template <class T>
Wide<T> widen(T value) {
  if constexpr (is_half<T>) return to_float(value);
  if constexpr (!is_half<T>) return value;
}

template <class T>
T narrow(Wide<T> value) {
  if constexpr (std::is_same_v<T, f16>) return to_f16(value);
  if constexpr (std::is_same_v<T, bf16>) return to_bf16(value);
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
  }
  if constexpr (std::is_integral_v<T>) return value;
}

template <class W>
W step(Op op, W a, W b) {
  if constexpr (std::is_floating_point_v<W>) {
    if (op == Op::Prod) return a * b;
    if (op == Op::Sum || op == Op::Avg) return a + b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<W>::quiet_NaN();
    const bool a_is_less = a < b || (a == b && std::signbit(a));
    return a_is_less == (op == Op::Min) ? a : b;
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if (op == Op::Prod) return static_cast<W>(x * y);
    if (op == Op::Min) return a < b ? a : b;
    if (op == Op::Max) return a < b ? b : a;
    if (op == Op::And) return static_cast<W>(x & y);
    if (op == Op::Or) return static_cast<W>(x | y);
    if (op == Op::Xor) return static_cast<W>(x ^ y);
    return static_cast<W>(x + y);
  }
}

/// The contract in scalar code: one left fold, in f32 for the 16-bit floats, rounded once.
template <class T>
T left_fold(Op op, const std::vector<T>& values, std::size_t divisor) {
  Wide<T> sum = widen(values[0]);
  for (std::size_t k = 1; k < values.size(); ++k) sum = step(op, sum, widen(values[k]));
  if (op == Op::Avg) sum = static_cast<Wide<T>>(sum / static_cast<Wide<T>>(divisor));
  return narrow<T>(sum);
}

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
std::uint64_t bits_of(T value) {
  return std::bit_cast<Bits<T>>(value);
}

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// A third extremes, a third small numbers, a third any bits at all.
template <class T>
T value_at(std::size_t source, std::size_t index) {
  using W = Wide<T>;
  using Limits = std::numeric_limits<W>;
  const std::uint64_t hash = mix(source * 1000003 + index * 7919 + 1);
  const std::uint64_t pick = hash >> 8;
  if (hash % 3 == 0) {
    return std::bit_cast<T>(static_cast<Bits<T>>(pick));
  }
  if (hash % 3 == 1) return narrow<T>(static_cast<W>(pick % 100));
  if constexpr (std::is_floating_point_v<W>) {
    const W extremes[] = {W{0},
                          -W{0},
                          Limits::quiet_NaN(),
                          Limits::infinity(),
                          Limits::max(),
                          Limits::lowest(),
                          -Limits::infinity(),
                          Limits::min(),
                          Limits::denorm_min(),
                          -Limits::denorm_min() * 77,
                          W(65504),
                          W(0x1p-24)};
    return narrow<T>(extremes[pick % std::size(extremes)]);
  } else {
    const T extremes[] = {0, Limits::max(),      Limits::max() / 2 + 1,
                          1, static_cast<T>(-1), Limits::min()};
    return extremes[pick % std::size(extremes)];
  }
}

}  // namespace tutti::tests
