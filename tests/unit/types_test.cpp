// SPDX-License-Identifier: Apache-2.0
#include "tutti/types.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

f16 f16_of(unsigned bits) { return f16{static_cast<std::uint16_t>(bits)}; }
bf16 bf16_of(unsigned bits) { return bf16{static_cast<std::uint16_t>(bits)}; }

/// What a half with these fields means, by the definition of the format.
float meaning(unsigned bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return static_cast<float>(sign) * kInfinity;
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  const int scale = (exponent == 0 ? 1 : exponent) - bias - mantissa_bits;
  return static_cast<float>(sign * std::ldexp(whole, scale));
}

/// Checks the values between neighbours `low` and `low + 1`: below, at and above the middle.
template <class Round>
void expect_nearest_even(unsigned low, double middle, Round round) {
  const auto tie = static_cast<float>(middle);
  ASSERT_EQ(static_cast<double>(tie), middle);
  for (const unsigned sign : {0u, 0x8000u}) {
    const float factor = sign == 0 ? 1.0f : -1.0f;
    ASSERT_EQ(round(factor * std::nextafter(tie, 0.0f)).bits, sign | low) << std::hex << low;
    ASSERT_EQ(round(factor * tie).bits, sign | (low + low % 2)) << std::hex << low;
    ASSERT_EQ(round(factor * std::nextafter(tie, kInfinity)).bits, sign | (low + 1))
        << std::hex << low;
  }
}

TEST(Types, f16_means_what_ieee_binary16_says_and_survives_a_round_trip) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = to_float(f16_of(bits));
    const bool is_nan = (bits & 0x7FFFu) > 0x7C00u;
    ASSERT_EQ(std::isnan(value), is_nan) << std::hex << bits;
    ASSERT_EQ(to_f16(value).bits, is_nan ? 0x7E00u : bits) << std::hex << bits;
    if (is_nan) continue;
    ASSERT_EQ(value, meaning(bits, 5, 10)) << std::hex << bits;
    ASSERT_EQ(std::signbit(value), bits >= 0x8000u) << std::hex << bits;
  }
}

TEST(Types, bf16_is_the_upper_half_of_f32_and_survives_a_round_trip) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = to_float(bf16_of(bits));
    const bool is_nan = (bits & 0x7FFFu) > 0x7F80u;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
    ASSERT_EQ(to_bf16(value).bits, is_nan ? 0x7FC0u : bits) << std::hex << bits;
    if (is_nan) continue;
    ASSERT_EQ(value, meaning(bits, 8, 7)) << std::hex << bits;
  }
}

TEST(Types, f16_rounds_to_nearest_even_between_all_neighbours) {
  for (unsigned low = 0; low < 0x7BFF; ++low) {
    const double sum = double{to_float(f16_of(low))} + to_float(f16_of(low + 1));
    expect_nearest_even(low, sum / 2, to_f16);
  }
}

TEST(Types, bf16_rounds_to_nearest_even_between_all_neighbours) {
  for (unsigned low = 0; low < 0x7F7F; ++low) {
    const double sum = double{to_float(bf16_of(low))} + to_float(bf16_of(low + 1));
    expect_nearest_even(low, sum / 2, to_bf16);
  }
}

TEST(Types, halves_overflow_to_infinity_from_the_middle_above_the_largest_value) {
  EXPECT_EQ(to_f16(std::nextafter(65520.0f, 0.0f)).bits, 0x7BFF);
  EXPECT_EQ(to_f16(65520.0f).bits, 0x7C00);
  EXPECT_EQ(to_f16(-65520.0f).bits, 0xFC00);
  EXPECT_EQ(to_f16(std::numeric_limits<float>::max()).bits, 0x7C00);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x7F7F7FFFu)).bits, 0x7F7F);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x7F7F8000u)).bits, 0x7F80);
  EXPECT_EQ(to_bf16(-std::numeric_limits<float>::max()).bits, 0xFF80);
}

TEST(Types, every_nan_becomes_the_canonical_one) {
  for (const std::uint32_t bits :
       {0x7F800001u, 0x7FC00000u, 0x7FFFFFFFu, 0xFF800001u, 0xFFFFFFFFu}) {
    EXPECT_EQ(to_f16(std::bit_cast<float>(bits)).bits, 0x7E00);
    EXPECT_EQ(to_bf16(std::bit_cast<float>(bits)).bits, 0x7FC0);
  }
}

TEST(Types, values_below_half_the_smallest_subnormal_keep_only_their_sign) {
  for (const float tiny : {0.0f, 0x1p-149f, 0x1p-126f, 0x1p-30f, 0x1p-25f}) {
    EXPECT_EQ(to_f16(tiny).bits, 0);
    EXPECT_EQ(to_f16(-tiny).bits, 0x8000);
  }
  EXPECT_EQ(to_f16(std::nextafter(0x1p-25f, 1.0f)).bits, 1);
}

TEST(Types, names_lead_back_to_their_values) {
  for (std::size_t i = 0; i < kDTypes; ++i) {
    EXPECT_EQ(dtype_from(name_of(static_cast<DType>(i))), static_cast<DType>(i));
  }
  for (std::size_t i = 0; i < kOps; ++i) {
    EXPECT_EQ(op_from(name_of(static_cast<Op>(i))), static_cast<Op>(i));
  }
  EXPECT_EQ(name_of(DType::BF16), "bf16");
  EXPECT_EQ(name_of(DType::I64), "i64");
  EXPECT_EQ(name_of(Op::Xor), "xor");
  EXPECT_EQ(name_of(ErrorCode::System), "system error");
}

TEST(Types, unknown_names_are_refused_with_the_valid_ones) {
  const auto message = [](auto parse, std::string_view name) -> std::string {
    try {
      parse(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(dtype_from, "float"),
            "unknown element type \"float\"; valid are: f32, f64, f16, bf16, i8, u8, i16, u16, "
            "i32, u32, i64, u64");
  EXPECT_EQ(message(op_from, "SUM"),
            "unknown reduction \"SUM\"; valid are: sum, prod, min, max, avg, and, or, xor");
}

TEST(Types, element_types_agree_with_their_sizes) {
  EXPECT_EQ(dtype_of<const float>, DType::F32);
  EXPECT_EQ(dtype_of<bf16>, DType::BF16);
  EXPECT_EQ(dtype_of<long>, DType::I64);
  EXPECT_EQ(dtype_of<unsigned long long>, DType::U64);
  EXPECT_EQ(size_of(dtype_of<f16>), sizeof(f16));
  EXPECT_EQ(size_of(dtype_of<double>), sizeof(double));
  EXPECT_EQ(size_of(dtype_of<std::int8_t>), sizeof(std::int8_t));
  EXPECT_FALSE(Element<bool>);
  EXPECT_FALSE(Element<long double>);
}

}  // namespace
}  // namespace tutti
