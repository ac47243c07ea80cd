// SPDX-License-Identifier: Apache-2.0
#include "tutti/types.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr std::array<std::string_view, kDTypes> kDTypeNames = {
    "f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
constexpr std::array<std::string_view, kOps> kOpNames = {"sum", "prod", "min", "max",
                                                         "avg", "and",  "or",  "xor"};
constexpr std::string_view kUserName = "user";
constexpr std::array<std::string_view, 9> kErrorCodeNames = {
    "invalid argument", "mismatch",    "peer failed", "timeout",     "out of memory",
    "poisoned",         "unsupported", "tuning",      "system error"};

template <class Enum, std::size_t kSize>
std::string_view name_in(const std::array<std::string_view, kSize>& names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < kSize ? names[index] : std::string_view("unknown");
}

template <class Enum, std::size_t kSize>
Enum value_in(const std::array<std::string_view, kSize>& names, std::string_view name,
              std::string_view what) {
  std::string valid;
  for (std::size_t i = 0; i < kSize; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
    valid.append(i == 0 ? "" : ", ").append(names[i]);
  }
  std::string text = "unknown ";
  text.append(what).append(" \"").append(name).append("\"; valid are: ").append(valid);
  throw Error(ErrorCode::InvalidArgument, text);
}

/// `value` / 2^shift, rounded to nearest-even. 1 <= shift <= 31.
constexpr std::uint32_t shift_right_rounding(std::uint32_t value, unsigned shift) {
  const std::uint32_t half_minus_one = (1u << (shift - 1)) - 1;
  const std::uint32_t odd = (value >> shift) & 1u;
  return (value + half_minus_one + odd) >> shift;
}

constexpr std::uint32_t kInfinity = 0x7F800000u;
constexpr std::uint32_t kHiddenBit = 1u << 23;

}  // namespace

float to_float(f16 value) noexcept {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = value.bits & 0x7FFFu;
  const std::uint32_t exponent = magnitude >> 10;
  if (exponent == 0) {
    const float widened = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(widened) | sign);
  }
  const std::uint32_t bias_difference = exponent == 31 ? 224 : 112;
  return std::bit_cast<float>(sign | ((magnitude << 13) + (bias_difference << 23)));
}

float to_float(bf16 value) noexcept {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

f16 to_f16(float value) noexcept {
  constexpr std::uint32_t kSmallestNormal = 113u << 23;
  constexpr std::uint32_t kRoundsToInfinity = 0x477FF000u;  // 65520
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t rounded = 0;
  if (magnitude > kInfinity) return f16{0x7E00};
  if (magnitude >= kRoundsToInfinity) {
    rounded = 0x7C00u;
  } else if (magnitude >= kSmallestNormal) {
    rounded = shift_right_rounding(magnitude - (112u << 23), 13);
  } else if (const unsigned shift = 126 - (magnitude >> 23); shift < 25) {
    rounded = shift_right_rounding((magnitude & (kHiddenBit - 1)) | kHiddenBit, shift);
  }
  return f16{static_cast<std::uint16_t>(sign | rounded)};
}

bf16 to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > kInfinity) return bf16{0x7FC0};
  return bf16{static_cast<std::uint16_t>(shift_right_rounding(bits, 16))};
}

std::string_view name_of(DType type) noexcept {
  return type == DType::User ? kUserName : name_in(kDTypeNames, type);
}

std::string_view name_of(Op op) noexcept {
  return op == Op::User ? kUserName : name_in(kOpNames, op);
}

std::string_view name_of(ErrorCode code) noexcept { return name_in(kErrorCodeNames, code); }

DType dtype_from(std::string_view name) {
  return value_in<DType>(kDTypeNames, name, "element type");
}

Op op_from(std::string_view name) { return value_in<Op>(kOpNames, name, "reduction"); }

}  // namespace tutti
