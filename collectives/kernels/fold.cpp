// SPDX-License-Identifier: Apache-2.0
#include "collectives/kernels/fold.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "primitives/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/kernels/fold.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "collectives/kernels/fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::detail::HWY_NAMESPACE {
namespace {

constexpr std::size_t kStreamAlignment = 64;

/// One kernel: `T` is the type in memory, vectors hold `Compute`.
template <class T, Op kOp>
struct Kernel {
  using Compute = ComputeOf<T, kOp>;
  using Full = hn::ScalableTag<Compute>;

  /// Narrower stores would stream bytes beyond their vector.
  static constexpr bool kCanStream =
      is_even_odd<T> || hn::MaxLanes(Full()) * sizeof(T) >= HWY_STREAM_MULTIPLE;

  static HWY_INLINE const T* source(const FoldArgs& args, std::size_t k) {
    return static_cast<const T*>(args.sources[k]);
  }
  static HWY_INLINE T* out(const FoldArgs& args, std::size_t k) {
    return static_cast<T*>(args.outs[k]);
  }

  template <class D>
  static HWY_INLINE void one_vector(D d, const FoldArgs& args, std::size_t at) {
    auto sum = load(d, source(args, 0) + at);
    for (std::size_t k = 1; k < args.n_sources; ++k) {
      sum = combine<kOp>(d, sum, load(d, source(args, k) + at));
    }
    const auto result = finish<T, kOp>(d, sum, args.divisor);
    for (std::size_t k = 0; k < args.n_outs; ++k) store<false>(d, result, out(args, k) + at);
  }

  /// Fewer elements than four vectors: whole vectors, then halves, quarters, ... of one.
  template <std::size_t kLanes>
  static HWY_INLINE void remainder(const FoldArgs& args, std::size_t at, std::size_t end) {
    if (at == end) return;
    const hn::CappedTag<Compute, kLanes> d;
    const std::size_t lanes = hn::Lanes(d);
    for (; end - at >= lanes; at += lanes) one_vector(d, args, at);
    if constexpr (kLanes > 1) remainder<kLanes / 2>(args, at, end);
  }

  static HWY_NOINLINE void few(const FoldArgs& args, std::size_t at, std::size_t end) {
    remainder<hn::MaxLanes(Full())>(args, at, end);
  }

  template <bool kStream>
  static HWY_INLINE std::size_t any_to_any(const FoldArgs& args, std::size_t at) {
    const Full d;
    const std::size_t n = hn::Lanes(d);
    for (; args.count - at >= 4 * n; at += 4 * n) {
      hn::Vec<Full> sum0, sum1, sum2, sum3;
      load_two(d, source(args, 0) + at, sum0, sum1);
      load_two(d, source(args, 0) + at + 2 * n, sum2, sum3);
      for (std::size_t k = 1; k < args.n_sources; ++k) {
        hn::Vec<Full> v0, v1, v2, v3;
        load_two(d, source(args, k) + at, v0, v1);
        load_two(d, source(args, k) + at + 2 * n, v2, v3);
        sum0 = combine<kOp>(d, sum0, v0);
        sum1 = combine<kOp>(d, sum1, v1);
        sum2 = combine<kOp>(d, sum2, v2);
        sum3 = combine<kOp>(d, sum3, v3);
      }
      sum0 = finish<T, kOp>(d, sum0, args.divisor);
      sum1 = finish<T, kOp>(d, sum1, args.divisor);
      sum2 = finish<T, kOp>(d, sum2, args.divisor);
      sum3 = finish<T, kOp>(d, sum3, args.divisor);
      for (std::size_t k = 0; k < args.n_outs; ++k) {
        store_two<kStream>(d, sum0, sum1, out(args, k) + at);
        store_two<kStream>(d, sum2, sum3, out(args, k) + at + 2 * n);
      }
    }
    return at;
  }

  template <bool kStream>
  static HWY_INLINE void two_vectors(const T* a, const T* b, T* to, std::size_t divisor) {
    const Full d;
    hn::Vec<Full> a0, a1, b0, b1;
    load_two(d, a, a0, a1);
    load_two(d, b, b0, b1);
    const auto result0 = finish<T, kOp>(d, combine<kOp>(d, a0, b0), divisor);
    const auto result1 = finish<T, kOp>(d, combine<kOp>(d, a1, b1), divisor);
    store_two<kStream>(d, result0, result1, to);
  }

  template <bool kStream>
  static HWY_INLINE std::size_t two_to_one(const FoldArgs& args, std::size_t at) {
    const std::size_t n = hn::Lanes(Full());
    const std::size_t count = args.count;
    const std::size_t divisor = args.divisor;
    const T* a = source(args, 0);
    const T* b = source(args, 1);
    T* to = out(args, 0);
    for (; count - at >= 4 * n; at += 4 * n) {
      two_vectors<kStream>(a + at, b + at, to + at, divisor);
      two_vectors<kStream>(a + at + 2 * n, b + at + 2 * n, to + at + 2 * n, divisor);
    }
    return at;
  }

  template <bool kStream>
  static HWY_INLINE void fold_from(const FoldArgs& args, std::size_t at) {
    const bool pair = args.n_sources == 2 && args.n_outs == 1;
    few(args, pair ? two_to_one<kStream>(args, at) : any_to_any<kStream>(args, at), args.count);
  }

  /// Bytes from the outputs to their next cache line, or `kStreamAlignment` where they differ or
  /// no whole number of elements leads there.
  static HWY_INLINE std::size_t bytes_to_line(const FoldArgs& args) {
    const auto gap = [&args](std::size_t k) {
      return -reinterpret_cast<std::uintptr_t>(args.outs[k]) % kStreamAlignment;
    };
    for (std::size_t k = 1; k < args.n_outs; ++k) {
      if (gap(k) != gap(0)) return kStreamAlignment;
    }
    return gap(0) % sizeof(T) == 0 ? gap(0) : kStreamAlignment;
  }

  static void run(const FoldArgs& args) noexcept {
    if (!args.stream) return fold_from<false>(args, 0);
    const std::size_t head = bytes_to_line(args);
    if (!kCanStream || head == kStreamAlignment || args.count <= head / sizeof(T)) {
      fold_from<false>(args, 0);
    } else {
      few(args, 0, head / sizeof(T));
      fold_from<kCanStream>(args, head / sizeof(T));
    }
    hwy::FlushStream();
  }
};

/// Wrapping arithmetic is the same for both signs, so they share a kernel.
template <class T, Op kOp>
consteval auto kernel_type() {
  constexpr bool wraps = kOp != Op::Min && kOp != Op::Max && kOp != Op::Avg;
  if constexpr (std::is_integral_v<T> && wraps) {
    return std::make_unsigned_t<T>();
  } else {
    return T();
  }
}

template <class T, std::size_t kOp>
consteval FoldFn entry() {
  constexpr Op op = static_cast<Op>(kOp);
  constexpr bool bitwise = op == Op::And || op == Op::Or || op == Op::Xor;
  if constexpr (bitwise && !std::is_integral_v<T>) {
    return nullptr;
  } else {
    return &Kernel<decltype(kernel_type<T, op>()), op>::run;
  }
}

struct Row {
  FoldFn of_op[kOps];
};

template <DType kType, class T, std::size_t... kOp>
consteval Row row(std::index_sequence<kOp...>) {
  static_assert(dtype_of<T> == kType);
  return Row{{entry<T, kOp>()...}};
}

template <DType kType, class T>
inline constexpr Row kRow = row<kType, T>(std::make_index_sequence<kOps>());

constexpr const Row* kTable[kDTypes] = {
    &kRow<DType::F32, float>,        &kRow<DType::F64, double>,
    &kRow<DType::F16, f16>,          &kRow<DType::BF16, bf16>,
    &kRow<DType::I8, std::int8_t>,   &kRow<DType::U8, std::uint8_t>,
    &kRow<DType::I16, std::int16_t>, &kRow<DType::U16, std::uint16_t>,
    &kRow<DType::I32, std::int32_t>, &kRow<DType::U32, std::uint32_t>,
    &kRow<DType::I64, std::int64_t>, &kRow<DType::U64, std::uint64_t>,
};

FoldFn lookup(DType type, Op op) {
  return kTable[static_cast<std::size_t>(type)]->of_op[static_cast<std::size_t>(op)];
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace tutti::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::detail {

HWY_EXPORT(lookup);
HWY_EXPORT(target_name);

FoldFn fold_kernel(DType type, Op op) noexcept {
  if (type == DType::User || op == Op::User) return nullptr;
  return HWY_DYNAMIC_DISPATCH(lookup)(type, op);
}

std::string_view fold_instruction_set() noexcept { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace tutti::detail
#endif
