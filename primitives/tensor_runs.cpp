// SPDX-License-Identifier: Apache-2.0
#include "primitives/tensor_runs.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "tutti/error.hpp"

namespace tutti::detail {

std::string text_of(const Extents& extents) {
  std::string text = "{";
  for (const std::size_t value : extents) {
    text += fmt::format("{}{}", text.size() > 1 ? ", " : "", static_cast<std::int64_t>(value));
  }
  return text + "}";
}

void refuse_dims(std::size_t dims) {
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{} dimensions; at most {} are allowed", dims, Extents::kMaxDims));
}

std::optional<std::size_t> product_within(const Extents& extents, std::size_t most) noexcept {
  std::size_t product = 1;
  for (const std::size_t value : extents) {
    if (value > most) return std::nullopt;  // also what came in negative
  }
  if (std::ranges::find(extents, std::size_t{0}) != extents.end()) return 0;
  for (const std::size_t value : extents) {
    if (value > most / product) return std::nullopt;
    product *= value;
  }
  return product;
}

std::size_t index_of(const Extents& shape, const Extents& at) noexcept {
  std::size_t index = 0;
  for (std::size_t d = 0; d < shape.dims(); ++d) index = index * shape[d] + at[d];
  return index;
}

RunCursor::RunCursor(const Extents& whole, const Extents& offsets, const Extents& extents) noexcept
    : start_(index_of(whole, offsets)), run_(1), left_(extents.product()) {
  // Dimensions that the sub-block fills, and the first one that it does not, are one run.
  outer_dims_ = whole.dims();
  std::size_t stride = 1;
  bool filled = true;
  while (outer_dims_ > 0 && filled) {
    const std::size_t d = --outer_dims_;
    run_ *= extents[d];
    stride *= whole[d];
    filled = extents[d] == whole[d];
  }
  for (std::size_t d = outer_dims_; d-- > 0;) {
    extents_[d] = extents[d];
    strides_[d] = stride;
    stride *= whole[d];
  }
}

void RunCursor::next_run() noexcept {
  within_ = 0;
  for (std::size_t d = outer_dims_; d-- > 0;) {
    start_ += strides_[d];
    if (++indices_[d] < extents_[d]) return;
    start_ -= strides_[d] * extents_[d];
    indices_[d] = 0;
  }
}

}  // namespace tutti::detail
