// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::detail {

/// Two lines: the unit that the adjacent-line prefetcher moves. Words never share one.
inline constexpr std::size_t kLine = 128;

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

enum class PeState : std::uint32_t { Running, Finished, Failed };

/// Why a PE or a team failed. Peers may read it while it is written again, so it is copied word by
/// word; a torn text is possible, a torn process is not.
class FailureText {
 public:
  void set(ErrorCode code, std::string_view text, int origin_pe) noexcept;
  ErrorCode code() const noexcept { return static_cast<ErrorCode>(head() & 0xff); }
  /// World number of the PE where it began.
  int origin_pe() const noexcept { return static_cast<int>(head() >> 8) - 1; }
  std::string text() const;

 private:
  std::uint64_t head() const noexcept { return words_[0].load(std::memory_order_acquire); }

  std::array<Word, 64> words_{};  ///< code and origin, then 63 words of text
};

/// The control plane of one PE; lives in memory that all PEs of its node map. Words are written
/// by their owner unless said otherwise.
struct ControlBlock {
  alignas(kLine) Word nonce{0};  ///< proves that a mapping shows this PE's memory

  alignas(kLine) std::atomic<std::uint32_t> doorbell{0};  ///< futex; rung by raisers
  alignas(kLine) Word sleep{0};          ///< SleepWord: how many of my threads sleep, for whom
  alignas(kLine) Word node_sleepers{0};  ///< of the node's first PE: sleepers on the node, by all

  alignas(kLine) std::atomic<PeState> state{PeState::Running};
  FailureText failure;  ///< valid once `state` is Failed
  FailureText trouble;  ///< this PE's last refusal or poisoning
};

/// What a sleeping PE waits for: a published word of one PE, or anything.
namespace sleep_word {
inline constexpr std::uint32_t kAnything = ~std::uint32_t{0};
constexpr std::uint64_t make(std::uint32_t sleepers, std::uint32_t key) {
  return (std::uint64_t{sleepers} << 32) | key;
}
constexpr std::uint32_t sleepers(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}
constexpr std::uint32_t key(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
}  // namespace sleep_word

}  // namespace tutti::detail
