// SPDX-License-Identifier: Apache-2.0
#include "moe/weighted_sum.hpp"

#include <cstddef>
#include <span>

#include "primitives/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "moe/weighted_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "collectives/kernels/fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::moe::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace vectors = detail::HWY_NAMESPACE;

using Rows = std::span<const void* const>;
using Weights = std::span<const float>;

template <class T, class D>
HWY_INLINE void one_vector(D d, T* out, Rows rows, Weights weights, std::size_t at) {
  auto sum = hn::Zero(d);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto y = vectors::load(d, static_cast<const T*>(rows[k]) + at);
    sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[k]), y));
  }
  vectors::store<false>(d, vectors::canonical_nan(d, sum), out + at);
}

/// Four vectors at a time, so that the additions of one do not wait for those of another.
template <class T, class D>
HWY_INLINE void four_vectors(D d, T* out, Rows rows, Weights weights, std::size_t at) {
  const std::size_t n = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const T* row = static_cast<const T*>(rows[k]) + at;
    const auto weight = hn::Set(d, weights[k]);
    hn::Vec<D> y0, y1, y2, y3;
    vectors::load_two(d, row, y0, y1);
    vectors::load_two(d, row + 2 * n, y2, y3);
    sum0 = hn::Add(sum0, hn::Mul(weight, y0));
    sum1 = hn::Add(sum1, hn::Mul(weight, y1));
    sum2 = hn::Add(sum2, hn::Mul(weight, y2));
    sum3 = hn::Add(sum3, hn::Mul(weight, y3));
  }
  vectors::store_two<false>(d, vectors::canonical_nan(d, sum0), vectors::canonical_nan(d, sum1),
                            out + at);
  vectors::store_two<false>(d, vectors::canonical_nan(d, sum2), vectors::canonical_nan(d, sum3),
                            out + at + 2 * n);
}

template <class T>
void sum_rows(void* to, Rows rows, Weights weights, std::size_t count) {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 1> one;
  const std::size_t n = hn::Lanes(full);
  T* out = static_cast<T*>(to);
  std::size_t at = 0;
  for (; count - at >= 4 * n; at += 4 * n) four_vectors(full, out, rows, weights, at);
  for (; count - at >= n; at += n) one_vector(full, out, rows, weights, at);
  for (; at < count; ++at) one_vector(one, out, rows, weights, at);
}

void sum_f32(void* to, Rows rows, Weights weights, std::size_t count) {
  sum_rows<float>(to, rows, weights, count);
}
void sum_bf16(void* to, Rows rows, Weights weights, std::size_t count) {
  sum_rows<bf16>(to, rows, weights, count);
}
void sum_f16(void* to, Rows rows, Weights weights, std::size_t count) {
  sum_rows<f16>(to, rows, weights, count);
}

}  // namespace
}  // namespace tutti::moe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::moe {
namespace {

HWY_EXPORT(sum_f32);
HWY_EXPORT(sum_bf16);
HWY_EXPORT(sum_f16);

}  // namespace

void weighted_sum(DType type, void* out, std::span<const void* const> rows,
                  std::span<const float> weights, std::size_t count) noexcept {
  if (type == DType::F32) return HWY_DYNAMIC_DISPATCH(sum_f32)(out, rows, weights, count);
  if (type == DType::BF16) return HWY_DYNAMIC_DISPATCH(sum_bf16)(out, rows, weights, count);
  HWY_DYNAMIC_DISPATCH(sum_f16)(out, rows, weights, count);
}

}  // namespace tutti::moe
#endif
