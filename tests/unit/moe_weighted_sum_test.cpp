// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "moe/weighted_sum.hpp"
#include "support/moe_reference.hpp"

namespace tutti::moe {
namespace {

using tests::as_float;
using tests::from_float;

/// Any bit pattern but NaN.
template <class T>
T any_value(std::mt19937_64& random) {
  for (;;) {
    T value{};
    if constexpr (sizeof(T) == 4) value = std::bit_cast<T>(static_cast<std::uint32_t>(random()));
    if constexpr (sizeof(T) == 2) value = T{static_cast<std::uint16_t>(random())};
    if (!std::isnan(as_float(value))) return value;
  }
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T one_element(const std::vector<std::vector<T>>& rows, const std::vector<float>& weights,
              std::size_t i) {
  float sum = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const float product = weights[k] * as_float(rows[k][i]);
    sum = sum + product;
  }
  if (std::isnan(sum)) sum = std::numeric_limits<float>::quiet_NaN();
  return from_float<T>(sum);
}

template <class T>
class MoeWeightedSum : public ::testing::Test {};
using Types = ::testing::Types<float, bf16, f16>;
TYPED_TEST_SUITE(MoeWeightedSum, Types);

TYPED_TEST(MoeWeightedSum, equals_the_scalar_fold_in_k_order_bit_for_bit) {
  std::mt19937_64 random(5);
  for (const std::size_t n : {0u, 1u, 2u, 8u, 10u}) {
    for (const std::size_t count : {0u, 1u, 7u, 8u, 31u, 64u, 100u, 129u, 1000u}) {
      std::vector<std::vector<TypeParam>> rows(n);
      std::vector<float> weights;
      std::vector<const void*> pointers;
      for (auto& row : rows) {
        for (std::size_t i = 0; i < count; ++i) row.push_back(any_value<TypeParam>(random));
        pointers.push_back(row.data());
        weights.push_back(std::ldexp(static_cast<float>(random() % 2001) - 1000.0f, -9));
      }
      std::vector<TypeParam> out(count + 2, from_float<TypeParam>(42));
      weighted_sum(dtype_of<TypeParam>, out.data() + 1, pointers, weights, count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(bits_of(out[i + 1]), bits_of(one_element(rows, weights, i)))
            << "rows " << n << " count " << count << " element " << i;
      }
      EXPECT_EQ(as_float(out.front()), 42);
      EXPECT_EQ(as_float(out.back()), 42);
    }
  }
}

}  // namespace
}  // namespace tutti::moe
