// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>

#include "tutti/export.hpp"

namespace tutti {

namespace detail {
[[noreturn]] TUTTI_API void refuse_dims(std::size_t dims);
}

/// One number for each of 0 to 5 dimensions: a shape, the offsets of a view, a tile. Row-major; the
/// last dimension is contiguous. `{rows, 64}` works with integers of any type; negative numbers are
/// refused by whoever takes the shape.
class Extents {
 public:
  static constexpr std::size_t kMaxDims = 5;

  constexpr Extents() = default;
  template <std::integral... Numbers>
  requires(sizeof...(Numbers) >= 1 && sizeof...(Numbers) <= kMaxDims) constexpr Extents(
      Numbers... numbers)  // NOLINT(google-explicit-constructor): {16, 64} is a shape
      : values_{static_cast<std::size_t>(numbers)...}, dims_(sizeof...(Numbers)) {}
  /// Errors: `InvalidArgument` for more than 5 dimensions.
  constexpr explicit Extents(std::span<const std::size_t> values) : dims_(values.size()) {
    if (values.size() > kMaxDims) detail::refuse_dims(values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }

  constexpr std::size_t dims() const noexcept { return dims_; }
  constexpr std::size_t operator[](std::size_t dim) const noexcept { return values_[dim]; }
  constexpr std::size_t& operator[](std::size_t dim) noexcept { return values_[dim]; }
  constexpr const std::size_t* begin() const noexcept { return values_.data(); }
  constexpr const std::size_t* end() const noexcept { return values_.data() + dims_; }
  friend constexpr bool operator==(const Extents&, const Extents&) = default;

  /// The product of all numbers; 1 for no dimensions. Does not look for overflow.
  constexpr std::size_t product() const noexcept {
    std::size_t product = 1;
    for (const std::size_t value : *this) product *= value;
    return product;
  }

 private:
  std::array<std::size_t, kMaxDims> values_{};
  std::size_t dims_ = 0;
};

/// The block of a tensor that moves, is signalled and is waited for as one unit.
struct Tile {
  Extents extents;  ///< no dimensions: the whole tensor
};

/// `tile(4, 64)`: four rows of 64.
template <std::integral... Numbers>
constexpr Tile tile(Numbers... numbers) {
  return {Extents(numbers...)};
}

}  // namespace tutti
