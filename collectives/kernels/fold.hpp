// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "tutti/types.hpp"

namespace tutti::detail {

/// Folds `sources` vectors of `count` elements into every one of `outs` vectors in one pass:
/// outs[*][i] = round(fold of sources[0][i], sources[1][i], ... from left to right).
///
/// 16-bit floats accumulate in f32 and are rounded once. `Avg` divides the sum by `divisor`.
/// Every NaN result is the canonical quiet one.
/// The bits depend on the values alone: not on alignment, count, position or instruction set.
/// Any pointer may be unaligned. An output may be the same pointer as a source, no other overlap.
struct FoldArgs {
  void* const* outs;
  std::size_t n_outs;
  const void* const* sources;
  std::size_t n_sources;
  std::size_t count;        ///< elements
  std::size_t divisor = 1;  ///< for `Avg` only: the team size
  bool stream = false;      ///< write outputs past the cache; ends with its own store fence
};

using FoldFn = void (*)(const FoldArgs&) noexcept;

/// Whether there is a kernel for type x op: bitwise operations are for integers.
constexpr bool fold_is_defined(DType type, Op op) noexcept {
  return is_integer(type) || (op != Op::And && op != Op::Or && op != Op::Xor);
}

/// The kernel for this CPU, or nullptr where type x op is not defined (bitwise on floats) or the
/// program's own.
FoldFn fold_kernel(DType type, Op op) noexcept;

/// Name of the instruction set that `fold_kernel` chose on this CPU ("AVX3", "AVX2", ...).
std::string_view fold_instruction_set() noexcept;

/// How this thread's floats are rounded and denormals treated, and the like for another thread.
unsigned float_mode() noexcept;
class FloatMode {
 public:
  explicit FloatMode(unsigned mode) noexcept;
  ~FloatMode();
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

 private:
  unsigned saved_;
};

/// Flush-to-zero and denormals-are-zero off for the life of the object (contract `Ordered`).
class DenormalGuard {
 public:
  DenormalGuard() noexcept;
  ~DenormalGuard();
  DenormalGuard(const DenormalGuard&) = delete;
  DenormalGuard& operator=(const DenormalGuard&) = delete;

 private:
  unsigned saved_;
};

}  // namespace tutti::detail
