// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include "tutti/error.hpp"
#include "tutti/tensor.hpp"
#include "tutti/types.hpp"

namespace tutti {

namespace detail {
template <class T>
struct EigenScalar {
  using type = T;
};
template <>
struct EigenScalar<f16> {
  using type = Eigen::half;
};
template <>
struct EigenScalar<bf16> {
  using type = Eigen::bfloat16;
};
}  // namespace detail

/// The Eigen type of an element: `f16` is `Eigen::half`, `bf16` is `Eigen::bfloat16`.
template <class T>
using EigenScalar = typename detail::EigenScalar<std::remove_const_t<T>>::type;
static_assert(sizeof(Eigen::half) == sizeof(f16) && sizeof(Eigen::bfloat16) == sizeof(bf16));

template <class T>
using EigenMatrix = Eigen::Matrix<EigenScalar<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using EigenMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const EigenMatrix<T>, EigenMatrix<T>>>;

/// Maps `data` ([rows, cols], row-major) without a copy. The memory must outlive the map.
/// Errors: `InvalidArgument` if the sizes do not agree.
template <class T>
EigenMap<T> as_matrix(std::span<T> data, std::size_t rows, std::size_t cols) {
  if (data.size() != rows * cols) {
    throw Error(ErrorCode::InvalidArgument, "as_matrix: " + std::to_string(data.size()) +
                                                " elements are not " + std::to_string(rows) +
                                                " x " + std::to_string(cols));
  }
  using Scalar = std::conditional_t<std::is_const_v<T>, const EigenScalar<T>, EigenScalar<T>>;
  return EigenMap<T>(reinterpret_cast<Scalar*>(data.data()), static_cast<Eigen::Index>(rows),
                     static_cast<Eigen::Index>(cols));
}

/// Maps my instance of a tensor: its last dimension is the columns, all others together the rows.
template <Symmetric T>
EigenMap<T> as_matrix(ShmemTensor<T>& tensor) {
  const Extents& shape = tensor.shape();
  const std::size_t cols = shape[shape.dims() - 1];
  return as_matrix(tensor.local(), cols == 0 ? 0 : tensor.size() / cols, cols);
}

}  // namespace tutti
