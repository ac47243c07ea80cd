// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tutti/export.hpp"

namespace tutti {

/// IEEE binary16 as 16 bits of storage. Layout-equal to `Eigen::half`; arithmetic is done in f32.
struct f16 {
  std::uint16_t bits = 0;
  friend bool operator==(f16, f16) = default;
};

/// bfloat16 as 16 bits of storage. Layout-equal to `Eigen::bfloat16`; arithmetic is done in f32.
struct bf16 {
  std::uint16_t bits = 0;
  friend bool operator==(bf16, bf16) = default;
};

/// Widens exactly.
TUTTI_API float to_float(f16 value) noexcept;
/// Widens exactly.
TUTTI_API float to_float(bf16 value) noexcept;
/// Rounds to nearest-even; overflow gives infinity; a NaN becomes the canonical quiet NaN.
TUTTI_API f16 to_f16(float value) noexcept;
/// Rounds to nearest-even, denormals kept; a NaN becomes the canonical quiet NaN.
TUTTI_API bf16 to_bf16(float value) noexcept;

/// Element types of collectives. `User` is any type of a program's own, for which the problem says
/// the bytes of an element (`UserOp`); it is not one of the `kDTypes`.
enum class DType : std::uint8_t { F32, F64, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64, User };
inline constexpr std::size_t kDTypes = 12;

/// Reductions. `Avg` is the sum divided by the team size (integers truncate towards zero); the
/// bitwise ones are for integers only. NaN wins in `Min` and `Max`; integers wrap. `User` is a
/// function of the program (`UserOp`), on elements of type `User`; it is not one of the `kOps`.
enum class Op : std::uint8_t { Sum, Prod, Min, Max, Avg, And, Or, Xor, User };
inline constexpr std::size_t kOps = 8;

namespace detail {
inline constexpr std::uint8_t kBytesOf[kDTypes + 1] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 0};
}
/// Bytes of one element; 0 for `User`, see `element_bytes`.
constexpr std::size_t size_of(DType type) noexcept {
  return detail::kBytesOf[static_cast<std::size_t>(type)];
}

constexpr bool is_integer(DType type) noexcept { return type >= DType::I8 && type <= DType::U64; }

/// The field's short names: "f32", "bf16", "i64", ...; "sum", "min", ...; "user".
TUTTI_API std::string_view name_of(DType type) noexcept;
TUTTI_API std::string_view name_of(Op op) noexcept;
/// The inverse, but for "user"; throws `Error` (InvalidArgument) with the list of valid names.
TUTTI_API DType dtype_from(std::string_view name);
TUTTI_API Op op_from(std::string_view name);

/// The `DType` of a C++ type; undefined for others.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<f16> : std::integral_constant<DType, DType::F16> {};
template <>
struct DTypeOf<bf16> : std::integral_constant<DType, DType::BF16> {};

namespace detail {
template <class T>
consteval DType arithmetic_dtype() {
  if constexpr (std::is_same_v<T, float>) return DType::F32;
  if constexpr (std::is_same_v<T, double>) return DType::F64;
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return is_signed ? DType::I8 : DType::U8;
  if constexpr (sizeof(T) == 2) return is_signed ? DType::I16 : DType::U16;
  if constexpr (sizeof(T) == 4) return is_signed ? DType::I32 : DType::U32;
  return is_signed ? DType::I64 : DType::U64;
}
template <class T>
concept FloatOrInteger = std::is_same_v<T, float> || std::is_same_v<T, double> ||
    (std::is_integral_v<T> && !std::is_same_v<T, bool>);
}  // namespace detail

template <detail::FloatOrInteger T>
struct DTypeOf<T> : std::integral_constant<DType, detail::arithmetic_dtype<T>()> {};

/// A C++ type that collectives take.
template <class T>
concept Element = requires {
  DTypeOf<std::remove_cv_t<T>>::value;
};

template <Element T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

}  // namespace tutti
