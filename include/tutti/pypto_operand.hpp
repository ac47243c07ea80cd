// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "tutti/order.hpp"
#include "tutti/shape.hpp"
#include "tutti/tensor.hpp"
#include "tutti/transfer.hpp"
#include "tutti/view.hpp"

/// `shmem_load` and `shmem_store` of `tutti/pypto.hpp`: any PE's instance as the operand of a
/// computation, without a copy in between.
namespace tutti::pypto {

namespace detail {

/// Where the rows (last dimension) of a view are, in elements from the start of an instance.
struct Layout {
  explicit Layout(const tutti::detail::Region& region) : extents(region.valid) {
    const Extents& whole = region.tensor->shape;
    std::size_t stride = 1;
    for (std::size_t d = whole.dims(); d-- > 0; stride *= whole[d]) {
      strides[d] = stride;
      origin += region.offsets[d] * stride;
    }
    columns = extents[extents.dims() - 1];
    rows = columns == 0 ? 0 : extents.product() / columns;
  }
  std::size_t row(std::size_t number) const noexcept {
    std::size_t at = origin;
    for (std::size_t d = extents.dims() - 1; d-- > 0; number /= extents[d]) {
      at += number % extents[d] * strides[d];
    }
    return at;
  }

  Extents extents;
  std::array<std::size_t, Extents::kMaxDims> strides{};
  std::size_t origin = 0;
  std::size_t columns = 0;
  std::size_t rows = 0;
};

/// PE `pe`'s instance if it is reached by load and store, once all of `after` has taken effect.
template <class T>
T* instance_after(const View<T>& view, int pe, std::span<const Token> after) {
  const tutti::detail::Region& region = tutti::detail::region_of(view);
  Extents none = region.valid;
  for (std::size_t d = 0; d < none.dims(); ++d) none[d] = 0;
  tutti::detail::put({},
                     tutti::detail::make_region(*region.tensor, region.offsets, region.shape, none),
                     pe, after);
  return reinterpret_cast<T*>(tutti::detail::unsafe_peer(*region.tensor, pe));
}

}  // namespace detail

/// The valid part of a view of one PE's instance as an operand: read where it lies, or, if that PE
/// is not reached by load and store, from a copy. Reads see what a signal or barrier has announced;
/// valid as long as the tensor, and until someone may write there again.
template <class T>
class Operand {
 public:
  Operand(const View<T>& view, int pe, std::span<const Token> after)
      : layout_(tutti::detail::region_of(view)) {
    data_ = detail::instance_after(view, pe, after);
    if (data_ != nullptr) return;
    copy_.resize(view.size());
    get(view, pe, copy_);
    data_ = copy_.data();
    std::size_t stride = 1;
    for (std::size_t d = layout_.extents.dims(); d-- > 0; stride *= layout_.extents[d]) {
      layout_.strides[d] = stride;
    }
    layout_.origin = 0;
  }
  Operand(Operand&&) noexcept = default;
  Operand& operator=(Operand&&) noexcept = default;
  ~Operand() = default;

  const Extents& shape() const noexcept { return layout_.extents; }
  std::size_t size() const noexcept { return layout_.extents.product(); }
  bool copied() const noexcept { return !copy_.empty(); }
  /// The element at (i, j, ...); indices are not checked.
  template <std::integral... Indices>
  const T& operator()(Indices... indices) const noexcept {
    std::size_t dim = 0;
    std::size_t at = layout_.origin;
    ((at += static_cast<std::size_t>(indices) * layout_.strides[dim++]), ...);
    return data_[at];
  }
  /// Rows are the last dimension, numbered in row-major order of the others.
  std::size_t rows() const noexcept { return layout_.rows; }
  std::span<const T> row(std::size_t number) const noexcept {
    return {data_ + layout_.row(number), layout_.columns};
  }

 private:
  detail::Layout layout_;
  const T* data_ = nullptr;
  std::vector<T> copy_;
};

/// PE `src_pe`'s instance of `src` as an operand, without a copy where that is possible.
template <tutti::detail::Viewable Src, OneToken... After>
Operand<tutti::detail::ElementIn<Src>> shmem_load(const Src& src, int src_pe,
                                                  const After&... pred) {
  return {tutti::detail::as_view(src), src_pe, tutti::detail::tokens(pred...)};
}

/// Computes straight into PE `dst_pe`'s instance of `dst`: `compute(row, out)` is called for each
/// row as in `Operand`, with `out` [columns] to be written, not read. Where that PE is not reached
/// by load and store, `out` is a buffer here, and is put. Otherwise as `shmem_put` with SET.
template <tutti::detail::Viewable Dst, class Compute, OneToken... After>
requires std::invocable<Compute&, std::size_t, std::span<tutti::detail::ElementIn<Dst>>> Token
shmem_store(const Dst& dst, int dst_pe, Compute&& compute, const After&... pred) {
  using T = tutti::detail::ElementIn<Dst>;
  const View<T> view = tutti::detail::as_view(dst);
  const detail::Layout layout(tutti::detail::region_of(view));
  if (T* target = detail::instance_after(view, dst_pe, tutti::detail::tokens(pred...))) {
    for (std::size_t row = 0; row < layout.rows; ++row) {
      compute(row, std::span<T>(target + layout.row(row), layout.columns));
    }
    return {};
  }
  std::vector<T> buffer(view.size());
  for (std::size_t row = 0; row < layout.rows; ++row) {
    compute(row, std::span<T>(buffer).subspan(row * layout.columns, layout.columns));
  }
  return put(buffer, view, dst_pe, pred...);
}

}  // namespace tutti::pypto
