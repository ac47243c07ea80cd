// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "primitives/control.hpp"
#include "primitives/transport.hpp"

namespace tutti::detail {

/// Does what the request says to the word at `at`; returns its old value. Sequentially consistent:
/// publishes like any raise, and sees what the last raise published.
inline std::uint64_t apply_atomic(std::byte* at, const AtomicRequest& request) noexcept {
  const auto word = word_at(at);
  switch (request.op) {
    case AtomicOp::Fetch:
      return word.load(std::memory_order_seq_cst);
    case AtomicOp::Add:
      return word.fetch_add(request.value, std::memory_order_seq_cst);
    case AtomicOp::Swap:
      return word.exchange(request.value, std::memory_order_seq_cst);
    case AtomicOp::CompareExchange:
      break;
  }
  std::uint64_t old = request.expected;
  word.compare_exchange_strong(old, request.value, std::memory_order_seq_cst);
  return old;
}

}  // namespace tutti::detail
