// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

#include "tutti/collectives.hpp"

namespace tutti::tests {

inline constexpr std::size_t kGuard = 64;  // bytes before and after each buffer
inline constexpr std::byte kGuardByte{0xA5};

/// Small integers: sums and products over eight PEs are exact in every type, in any order.
inline int value_of(int pe, std::size_t index, std::size_t call, Op op) {
  const auto mixed = index * 7 + static_cast<std::size_t>(pe) * 3 + call * 13;
  return op == Op::Prod ? 1 + static_cast<int>(mixed % 2) : static_cast<int>(mixed % 11);
}

inline int fold(Op op, int a, int b) {
  switch (op) {
    case Op::Prod:
      return a * b;
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::Sum:
    case Op::Avg:
    case Op::User:
      break;
  }
  return a + b;
}

inline int expected_of(int pes, std::size_t index, std::size_t call, Op op) {
  int result = value_of(0, index, call, op);
  for (int pe = 1; pe < pes; ++pe) result = fold(op, result, value_of(pe, index, call, op));
  return op == Op::Avg ? result / pes : result;
}

template <class T>
T element_of(int value) {
  if constexpr (std::is_same_v<T, f16>) {
    return to_f16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bf16>) {
    return to_bf16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
double number_of(T element) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
    return static_cast<double>(to_float(element));
  } else {
    return static_cast<double>(element);
  }
}

/// A buffer with guard bytes around it, in private memory or in a symmetric tensor.
template <class T>
class Guarded {
 public:
  Guarded(Team& team, std::size_t count, std::size_t misalign, bool symmetric) : count_(count) {
    const std::size_t bytes = 2 * kGuard + (count + misalign) * sizeof(T);
    if (symmetric) {
      tensor_.emplace(make_tensor<T>(team, {bytes / sizeof(T) + 1}));
      begin_ = reinterpret_cast<std::byte*>(tensor_->local().data());
      bytes_ = tensor_->local().size_bytes();
    } else {
      memory_.resize(bytes);
      begin_ = memory_.data();
      bytes_ = bytes;
    }
    data_ = reinterpret_cast<T*>(begin_ + kGuard) + misalign;
    std::fill_n(begin_, bytes_, kGuardByte);
  }
  T* data() const { return data_; }
  const ShmemTensor<T>* tensor() const { return tensor_ ? &*tensor_ : nullptr; }
  bool intact() const {
    const auto* first = reinterpret_cast<const std::byte*>(data_);
    const auto* last = reinterpret_cast<const std::byte*>(data_ + count_);
    const auto is_guard = [](std::byte b) { return b == kGuardByte; };
    return std::all_of(static_cast<const std::byte*>(begin_), first, is_guard) &&
           std::all_of(last, static_cast<const std::byte*>(begin_ + bytes_), is_guard);
  }

 private:
  std::size_t count_;
  std::optional<ShmemTensor<T>> tensor_;
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  T* data_ = nullptr;
};

}  // namespace tutti::tests
