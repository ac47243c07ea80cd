// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "bench/touch.hpp"
#include "tutti/tutti.hpp"

/// What the buffers of a measurement hold: a function of PE, index and call that never repeats, so
/// that data of another place, another PE or another call are seen to be wrong; and the reference.
namespace tutti::bench {

enum class Data : std::uint8_t {
  Exact,  ///< 0 to 7: exact in every type and every order
  Order,  ///< floating point of which each order has a sum of its own: large, opposite, tiny
};
inline constexpr std::size_t kDatas = 2;

/// The lines that such data are made of.
Lines lines_of(DType dtype, Data data);

/// Of the input of PE `pe` in call `call`.
constexpr std::uint64_t seed_of(int pe, std::uint64_t call) noexcept {
  std::uint64_t mixed = ((call << 16) + static_cast<std::uint64_t>(pe)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 32)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 29);
}

/// Calls f with a null pointer of the element type.
template <class F>
auto with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::F32:
      return f(static_cast<float*>(nullptr));
    case DType::F64:
      return f(static_cast<double*>(nullptr));
    case DType::F16:
      return f(static_cast<f16*>(nullptr));
    case DType::BF16:
      return f(static_cast<bf16*>(nullptr));
    case DType::I8:
      return f(static_cast<std::int8_t*>(nullptr));
    case DType::U8:
      return f(static_cast<std::uint8_t*>(nullptr));
    case DType::I16:
      return f(static_cast<std::int16_t*>(nullptr));
    case DType::U16:
      return f(static_cast<std::uint16_t*>(nullptr));
    case DType::I32:
      return f(static_cast<std::int32_t*>(nullptr));
    case DType::U32:
      return f(static_cast<std::uint32_t*>(nullptr));
    case DType::I64:
      return f(static_cast<std::int64_t*>(nullptr));
    case DType::U64:
    case DType::User:
      break;
  }
  return f(static_cast<std::uint64_t*>(nullptr));
}

/// Element `index` of the input of PE `pe` in call `call`.
template <class T>
T element_of(const Lines& lines, int pe, std::size_t index, std::uint64_t call) {
  constexpr std::size_t kInLine = kLineBytes / sizeof(T);
  const std::size_t line = line_at(seed_of(pe, call), index / kInLine);
  T element;
  std::memcpy(&element, lines.bytes.data() + line * kLineBytes + index % kInLine * sizeof(T),
              sizeof(T));
  return element;
}

/// What sums are made in: `Contract::Ordered` adds 16-bit floats in f32 and rounds once.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, f16> || std::is_same_v<T, bf16>, float,
                                std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>>;

template <class T>
Wide<T> widened(T value) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    return to_float(value);
  } else {
    return static_cast<Wide<T>>(value);
  }
}

template <class T>
T narrowed(Wide<T> value) {
  if constexpr (std::is_same_v<T, f16>) {
    return to_f16(value);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return to_bf16(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class W>
W fold(Op op, W a, W b) {
  if (op == Op::Prod) {
    if constexpr (std::is_floating_point_v<W>) return a * b;
    return static_cast<W>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
  if (op == Op::Min) return std::min(a, b);
  if (op == Op::Max) return std::max(a, b);
  if constexpr (std::is_integral_v<W>) {
    if (op == Op::And) return a & b;
    if (op == Op::Or) return a | b;
    if (op == Op::Xor) return a ^ b;
  }
  return a + b;  // sum and avg
}

/// The left fold in PE order of element `index` of all inputs.
template <class T>
T folded(const Lines& lines, Op op, int pes, std::size_t index, std::uint64_t call) {
  Wide<T> result = widened(element_of<T>(lines, 0, index, call));
  for (int pe = 1; pe < pes; ++pe) {
    result = fold(op, result, widened(element_of<T>(lines, pe, index, call)));
  }
  return narrowed<T>(op == Op::Avg ? result / static_cast<Wide<T>>(pes) : result);
}

}  // namespace tutti::bench
