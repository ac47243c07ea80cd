// SPDX-License-Identifier: Apache-2.0
#include "primitives/accumulate.hpp"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace tutti::detail {
namespace {

template <class To, class From>
To plus(To a, From b) {
  if constexpr (std::is_same_v<To, f16>) {
    return to_f16(to_float(a) + to_float(b));
  } else if constexpr (std::is_same_v<To, bf16>) {
    return to_bf16(to_float(a) + to_float(b));
  } else if constexpr (std::is_same_v<From, f16> || std::is_same_v<From, bf16>) {
    return a + to_float(b);
  } else if constexpr (std::is_integral_v<To>) {
    using Wrapping = std::make_unsigned_t<To>;
    return static_cast<To>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
  } else {
    return a + b;
  }
}

template <class To, class From>
void accumulate(std::byte* to, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    From addend;
    std::memcpy(&addend, from + i * sizeof addend, sizeof addend);
    std::atomic_ref<To> target(*reinterpret_cast<To*>(to + i * sizeof(To)));
    To now = target.load(std::memory_order_relaxed);
    while (!target.compare_exchange_weak(now, plus(now, addend), std::memory_order_relaxed)) {
    }
  }
}

template <class T>
void accumulate_same(std::byte* to, const std::byte* from, std::size_t count) {
  accumulate<T, T>(to, from, count);
}

}  // namespace

bool can_accumulate(DType to_type, DType from_type) noexcept {
  return to_type == from_type ||
         (to_type == DType::F32 && (from_type == DType::F16 || from_type == DType::BF16));
}

void accumulate_elements(std::byte* to, DType to_type, const std::byte* from, DType from_type,
                         std::size_t count) noexcept {
  if (to_type != from_type) {
    from_type == DType::F16 ? accumulate<float, f16>(to, from, count)
                            : accumulate<float, bf16>(to, from, count);
    return;
  }
  switch (to_type) {
    case DType::F32:
      return accumulate_same<float>(to, from, count);
    case DType::F64:
      return accumulate_same<double>(to, from, count);
    case DType::F16:
      return accumulate_same<f16>(to, from, count);
    case DType::BF16:
      return accumulate_same<bf16>(to, from, count);
    case DType::I8:
    case DType::U8:
      return accumulate_same<std::uint8_t>(to, from, count);
    case DType::I16:
    case DType::U16:
      return accumulate_same<std::uint16_t>(to, from, count);
    case DType::I32:
    case DType::U32:
      return accumulate_same<std::uint32_t>(to, from, count);
    case DType::I64:
    case DType::U64:
      return accumulate_same<std::uint64_t>(to, from, count);
    case DType::User:
      break;  // put with update takes no type of a program's own
  }
}

}  // namespace tutti::detail
