// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "tutti/shape.hpp"

namespace tutti::detail {

/// "{16, 64}"; numbers that came in negative are shown so.
std::string text_of(const Extents& extents);

/// The product of all extents, or nothing if it or one of them exceeds `most`.
std::optional<std::size_t> product_within(const Extents& extents, std::size_t most) noexcept;

/// Where the element at `at` stands in a row-major block of `shape`.
std::size_t index_of(const Extents& shape, const Extents& at) noexcept;

/// A place in a sub-block of a row-major block, in elements, that walks through it in row-major
/// order, a contiguous run at a time. Runs that touch are one.
class RunCursor {
 public:
  /// Through `elements` that are contiguous.
  explicit RunCursor(std::size_t elements) noexcept : run_(elements), left_(elements) {}
  /// Through [offsets, offsets + extents) of a block of shape `whole`.
  RunCursor(const Extents& whole, const Extents& offsets, const Extents& extents) noexcept;

  /// The next element, from the start of the block, and how many follow it without a gap; 0 at the
  /// end.
  std::size_t offset() const noexcept { return start_ + within_; }
  std::size_t run() const noexcept { return std::min(run_ - within_, left_); }
  /// Goes on by 1 <= elements <= run().
  void skip(std::size_t elements) noexcept {
    within_ += elements;
    left_ -= elements;
    if (within_ == run_ && left_ > 0) next_run();
  }

 private:
  void next_run() noexcept;

  std::size_t start_ = 0;       ///< of this run
  std::size_t within_ = 0;      ///< done of this run
  std::size_t run_;             ///< length of every run
  std::size_t left_;            ///< in all
  std::size_t outer_dims_ = 0;  ///< dimensions that runs are counted by
  std::array<std::size_t, Extents::kMaxDims> extents_{};
  std::array<std::size_t, Extents::kMaxDims> strides_{};
  std::array<std::size_t, Extents::kMaxDims> indices_{};
};

/// Calls f(offset in a, offset in b, elements) for the pieces that are contiguous in both; uses the
/// cursors up.
template <class F>
void for_each_piece(RunCursor&& a, RunCursor&& b, F&& f) {
  for (std::size_t n = std::min(a.run(), b.run()); n > 0; n = std::min(a.run(), b.run())) {
    f(a.offset(), b.offset(), n);
    a.skip(n);
    b.skip(n);
  }
}

}  // namespace tutti::detail
