// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tutti/export.hpp"
#include "tutti/shape.hpp"

namespace tutti {

template <class T>
class View;

/// The signals that a tensor brings along: none, one word a tile, or one word a tile for each PE
/// that may signal it.
enum class TileSignals : std::uint8_t { None, One, PerSource };
namespace signals {
inline constexpr TileSignals none = TileSignals::None;
inline constexpr TileSignals one = TileSignals::One;
inline constexpr TileSignals per_source = TileSignals::PerSource;
}  // namespace signals

namespace detail {

class Block;
class TeamState;

struct TensorState;

/// A view with its element type erased. Made once and not copied on the way of a put: what was just
/// written in small pieces is slow to read in large ones.
struct Region {
  const TensorState* tensor = nullptr;
  std::size_t elements = 0;  ///< that put and get touch
  std::size_t start = 0;     ///< its first one, in elements from the start of an instance
  bool contiguous = true;    ///< whether they are one run
  Extents offsets;
  Extents shape;
  Extents valid;  ///< what put and get touch; each extent <= that of `shape`
};

/// A symmetric tensor with its element type erased; in the block: elements, then tile words.
struct TensorState {
  std::shared_ptr<TeamState> team;
  std::shared_ptr<Block> block;
  Extents shape;
  Extents tile;
  std::size_t elements = 0;
  std::size_t element_bytes = 0;
  std::byte* local = nullptr;
  TileSignals signals = TileSignals::None;
  Extents grid;                   ///< tiles in each dimension
  std::size_t tiles = 0;          ///< all of them
  std::size_t words_offset = 0;   ///< bytes from the start of an instance
  std::size_t source_stride = 0;  ///< bytes from one source's words to the next one's
  Region whole;                   ///< all of it
};

/// Throws `Error` (InvalidArgument) if the region does not lie inside the tensor.
TUTTI_API Region make_region(const TensorState& tensor, const Extents& offsets,
                             const Extents& shape, const Extents& valid);
[[noreturn]] TUTTI_API void refuse_span(const Region& region);
[[noreturn]] TUTTI_API void refuse_index(const Region& region, std::size_t indices);

template <class T>
const Region& region_of(const View<T>& view) noexcept {
  return view.region_;
}

}  // namespace detail

/// The same sub-block of every instance of a tensor; which PE's is said where it is used. A small
/// value; does not keep the tensor alive.
template <class T>
class View {
 public:
  explicit View(const detail::Region& region) noexcept : region_(region) {}
  /// As `ShmemTensor::view`, made in place.
  View(const detail::TensorState& tensor, const Extents& offsets, const Extents& shape,
       const Extents& valid)
      : region_(detail::make_region(tensor, offsets, shape, valid)) {}

  const Extents& offsets() const noexcept { return region_.offsets; }
  const Extents& shape() const noexcept { return region_.shape; }
  const Extents& valid() const noexcept { return region_.valid; }
  /// Elements that put and get touch.
  std::size_t size() const noexcept { return region_.elements; }

 private:
  friend const detail::Region& detail::region_of<T>(const View<T>&) noexcept;
  detail::Region region_;
};

/// What a wait has shown to be there: the valid part of a view of my own instance, to be used where
/// it lies, without a copy. Valid until the program lets someone write there again.
template <class T>
class ReadableView {
 public:
  explicit ReadableView(const detail::Region& region) noexcept : region_(region) {
    const Extents& whole = region.tensor->shape;
    std::size_t stride = 1;
    for (std::size_t d = whole.dims(); d-- > 0; stride *= whole[d]) strides_[d] = stride;
    data_ = reinterpret_cast<const T*>(region.tensor->local) + region.start;
  }

  const Extents& shape() const noexcept { return region_.valid; }
  std::size_t size() const noexcept { return region_.elements; }
  /// Elements from one index of dimension `dim` to the next; the last one's is 1.
  std::size_t stride(std::size_t dim) const noexcept { return strides_[dim]; }
  const T* data() const noexcept { return data_; }

  /// The element at (i, j, ...); indices are not checked.
  template <std::integral... Indices>
  const T& operator()(Indices... indices) const noexcept {
    std::size_t dim = 0;
    std::size_t at = 0;
    ((at += static_cast<std::size_t>(indices) * strides_[dim++]), ...);
    return data_[at];
  }
  /// The contiguous last dimension at the given indices of the others.
  /// Errors: `InvalidArgument` unless there is one index for each dimension but the last.
  template <std::integral... Indices>
  std::span<const T> row(Indices... indices) const {
    if (sizeof...(indices) + 1 != shape().dims()) detail::refuse_index(region_, sizeof...(indices));
    return {&(*this)(indices...), shape()[shape().dims() - 1]};
  }
  /// All of it, if it is one contiguous range; see `contiguous`.
  /// Errors: `InvalidArgument` if it is not.
  std::span<const T> span() const {
    if (!contiguous()) detail::refuse_span(region_);
    return {data_, size()};
  }
  bool contiguous() const noexcept { return region_.contiguous; }

 private:
  detail::Region region_;
  std::array<std::size_t, Extents::kMaxDims> strides_{};
  const T* data_ = nullptr;
};

}  // namespace tutti
