// SPDX-License-Identifier: Apache-2.0
//
// Vector arithmetic of the fold kernels. fold.cpp includes this file once per instruction set.
#if defined(TUTTI_COLLECTIVES_KERNELS_FOLD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_COLLECTIVES_KERNELS_FOLD_INL_HPP
#undef TUTTI_COLLECTIVES_KERNELS_FOLD_INL_HPP
#else
#define TUTTI_COLLECTIVES_KERNELS_FOLD_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tutti/types.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

/// The type a kernel computes in: f32 for the 16-bit floats, u16 for products of bytes.
template <class T, Op kOp>
using ComputeOf =
    std::conditional_t<is_half<T>, float,
                       std::conditional_t<sizeof(T) == 1 && kOp == Op::Prod, std::uint16_t, T>>;

/// The lane type of `T` in memory.
template <class T>
using LaneOf = std::conditional_t<is_half<T>, std::uint16_t, T>;

template <class D, class T>
using StoredTag = hn::Rebind<LaneOf<T>, D>;

/// The conversions of F16C are exact for denormals and ignore the denormal flags.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
inline constexpr bool kHasF16c = true;
#else
inline constexpr bool kHasF16c = false;
#endif

/// Lanes travel as unsigned integers: those need no element alignment, not even one lane alone.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_lanes(D d, const T* from) {
  const hn::RebindToUnsigned<D> du;
  const auto* lanes = reinterpret_cast<const hn::TFromD<decltype(du)>*>(from);
  return hn::BitCast(d, hn::LoadU(du, lanes));
}

template <class D>
HWY_INLINE hn::Vec<D> from_bits(D d, hn::TFromD<hn::RebindToUnsigned<D>> bits) {
  return hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), bits));
}

template <class D>
HWY_INLINE hn::Vec<D> canonical_nan(D d, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::IfThenElse(hn::IsNaN(v), from_bits(d, 0x7FC00000u), v);
  } else {
    return hn::IfThenElse(hn::IsNaN(v), from_bits(d, 0x7FF8000000000000u), v);
  }
}

template <class D>
HWY_INLINE hn::Vec<D> widen_f16(D d, const f16* from) {
  if constexpr (kHasF16c) {
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::PromoteTo(d, hn::BitCast(d16, load_lanes(StoredTag<D, f16>(), from)));
  } else {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const auto bits = hn::PromoteTo(du, load_lanes(StoredTag<D, f16>(), from));
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFu));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const auto exponent = hn::And(bits, hn::Set(du, 0x7C00u));
    const auto special = hn::Eq(exponent, hn::Set(du, 0x7C00u));
    const auto rebias = hn::IfThenElse(special, hn::Set(du, 224u << 23), hn::Set(du, 112u << 23));
    const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
    const auto subnormal =
        hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), hn::Set(d, 0x1p-24f));
    const auto is_subnormal = hn::Eq(exponent, hn::Zero(du));
    const auto widened = hn::IfThenElse(is_subnormal, hn::BitCast(du, subnormal), normal);
    return hn::BitCast(d, hn::Or(widened, sign));
  }
}

template <class T, class D>
HWY_INLINE hn::Vec<D> load(D d, const T* from) {
  if constexpr (std::is_same_v<T, bf16>) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = load_lanes(StoredTag<D, T>(), from);
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  } else if constexpr (std::is_same_v<T, f16>) {
    return widen_f16(d, from);
  } else if constexpr (sizeof(T) < sizeof(hn::TFromD<D>)) {
    return hn::PromoteTo(d, load_lanes(StoredTag<D, T>(), from));
  } else {
    return load_lanes(d, from);
  }
}

template <class D>
HWY_INLINE hn::Vec<StoredTag<D, bf16>> narrow_bf16(D /*d*/, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu)));
  return hn::TruncateTo(StoredTag<D, bf16>(), hn::ShiftRight<16>(rounded));
}

template <class D>
HWY_INLINE hn::Vec<StoredTag<D, f16>> narrow_f16(D d, hn::Vec<D> v) {
  const StoredTag<D, f16> d16;
  if constexpr (kHasF16c) {
    const hn::Rebind<hwy::float16_t, D> dh;
    return hn::BitCast(d16, hn::DemoteTo(dh, v));
  } else {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, v);
    const auto sign = hn::And(bits, hn::Set(du, 0x80000000u));
    const auto magnitude = hn::Xor(bits, sign);
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
    const auto rebased =
        hn::Sub(hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xFFFu))), hn::Set(du, 112u << 23));
    // Below 2^-14 the addition of 0.5 rounds to a multiple of 2^-24, the smallest subnormal.
    const auto half = hn::Set(d, 0.5f);
    const auto subnormal =
        hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), half)), hn::BitCast(du, half));
    const auto normal = hn::ShiftRight<13>(rebased);
    auto rounded = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 113u << 23)), subnormal, normal);
    const auto overflows = hn::Gt(magnitude, hn::Set(du, 0x477FEFFFu));
    rounded = hn::IfThenElse(overflows, hn::Set(du, 0x7C00u), rounded);
    rounded = hn::Or(rounded, hn::ShiftRight<16>(sign));
    rounded =
        hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7F800000u)), hn::Set(du, 0x7E00u), rounded);
    return hn::TruncateTo(d16, rounded);
  }
}

/// a < b ? a : b
template <class V>
HWY_INLINE V lesser(V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  return hn::Min(a, b);
#else
  return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}

/// NaN wins, and -0 is less than +0: where neither is less, `Or` joins the two.
template <class V>
HWY_INLINE V min_float(V a, V b) {
  return hn::Or(lesser(a, b), lesser(b, a));
}

template <Op kOp, class D>
HWY_INLINE hn::Vec<D> combine(D /*d*/, hn::Vec<D> a, hn::Vec<D> b) {
  constexpr bool is_float = std::is_floating_point_v<hn::TFromD<D>>;
  if constexpr (kOp == Op::Sum || kOp == Op::Avg) {
    return hn::Add(a, b);
  } else if constexpr (kOp == Op::Prod) {
    return hn::Mul(a, b);
  } else if constexpr (kOp == Op::Min) {
    if constexpr (is_float) return min_float(a, b);
    if constexpr (!is_float) return hn::Min(a, b);
  } else if constexpr (kOp == Op::Max) {
    if constexpr (is_float) return hn::Neg(min_float(hn::Neg(a), hn::Neg(b)));
    if constexpr (!is_float) return hn::Max(a, b);
  } else if constexpr (kOp == Op::And) {
    return hn::And(a, b);
  } else if constexpr (kOp == Op::Or) {
    return hn::Or(a, b);
  } else {
    return hn::Xor(a, b);
  }
}

template <class T>
constexpr T divide_towards_zero(T value, std::uint64_t divisor) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0) return static_cast<T>(bits / divisor);
  return static_cast<T>(0 - (0 - bits) / divisor);
}

template <class D>
HWY_INLINE hn::Vec<D> divide(D d, hn::Vec<D> sum, std::size_t divisor) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_floating_point_v<T>) {
    return hn::Div(sum, hn::Set(d, static_cast<T>(divisor)));
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(sum, d, lanes);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
      lanes[i] = divide_towards_zero(lanes[i], divisor);
    }
    return hn::Load(d, lanes);
  }
}

/// The average, and one NaN for all.
template <class T, Op kOp, class D>
HWY_INLINE hn::Vec<D> finish(D d, hn::Vec<D> v, std::size_t divisor) {
  if constexpr (kOp == Op::Avg) v = divide(d, v, divisor);
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) v = canonical_nan(d, v);
  return v;
}

template <bool kStream, class D, class T>
HWY_INLINE void store_lanes(D /*d*/, hn::Vec<D> v, T* to) {
  const hn::RebindToUnsigned<D> du;
  auto* lanes = reinterpret_cast<hn::TFromD<decltype(du)>*>(to);
  if constexpr (kStream) {
    hn::Stream(hn::BitCast(du, v), du, lanes);
  } else {
    hn::StoreU(hn::BitCast(du, v), du, lanes);
  }
}

template <bool kStream, class D, class T>
HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> v, T* to) {
  const StoredTag<D, T> stored;
  if constexpr (std::is_same_v<T, bf16>) {
    store_lanes<kStream>(stored, narrow_bf16(d, v), to);
  } else if constexpr (std::is_same_v<T, f16>) {
    store_lanes<kStream>(stored, narrow_f16(d, v), to);
  } else if constexpr (sizeof(T) < sizeof(hn::TFromD<D>)) {
    store_lanes<kStream>(stored, hn::TruncateTo(stored, v), to);
  } else {
    store_lanes<kStream>(stored, v, to);
  }
}

/// bf16 comes in pairs of vectors, the even and the odd elements, which saves all shuffles.
template <class T>
inline constexpr bool is_even_odd = std::is_same_v<T, bf16>&& HWY_TARGET != HWY_SCALAR;

template <class T, class D>
HWY_INLINE void load_two(D d, const T* from, hn::Vec<D>& v0, hn::Vec<D>& v1) {
  if constexpr (is_even_odd<T>) {
    const hn::RebindToUnsigned<D> du;
    const hn::Repartition<std::uint16_t, D> d16;
    const auto bits = hn::BitCast(du, load_lanes(d16, from));
    v0 = hn::BitCast(d, hn::ShiftLeft<16>(bits));
    v1 = hn::BitCast(d, hn::And(bits, hn::Set(du, 0xFFFF0000u)));
  } else {
    v0 = load(d, from);
    v1 = load(d, from + hn::Lanes(d));
  }
}

/// Rounds up where the low half is above 0x8000, or equal to it and the high half odd.
template <class D>
HWY_INLINE hn::Vec<hn::Repartition<std::uint16_t, D>> narrow_even_odd(D /*d*/, hn::Vec<D> even,
                                                                      hn::Vec<D> odd) {
  const hn::RebindToUnsigned<D> du;
  const hn::Repartition<std::uint16_t, D> d16;
  const auto even_bits = hn::BitCast(du, even);
  const auto odd_bits = hn::BitCast(du, odd);
  const auto high =
      hn::OddEven(hn::BitCast(d16, odd_bits), hn::BitCast(d16, hn::ShiftRight<16>(even_bits)));
  const auto low =
      hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(odd_bits)), hn::BitCast(d16, even_bits));
  const auto one = hn::Set(d16, std::uint16_t{1});
  const auto above = hn::SaturatedSub(hn::SaturatedAdd(low, hn::And(high, one)), one);
  return hn::Add(high, hn::ShiftRight<15>(above));
}

template <bool kStream, class D, class T>
HWY_INLINE void store_two(D d, hn::Vec<D> v0, hn::Vec<D> v1, T* to) {
  if constexpr (is_even_odd<T>) {
    const hn::Repartition<std::uint16_t, D> d16;
    store_lanes<kStream>(d16, narrow_even_odd(d, v0, v1), to);
  } else {
    store<kStream>(d, v0, to);
    store<kStream>(d, v1, to + hn::Lanes(d));
  }
}

}  // namespace tutti::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
