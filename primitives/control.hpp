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

/// Bytes of the segment that a control block has for itself, and the name of its memfd.
inline constexpr std::size_t kControlBytes = 4096;
inline constexpr const char* kControlName = "tutti-control";

/// The word at `at`, in memory that PEs share.
inline std::atomic_ref<std::uint64_t> word_at(std::byte* at) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
}

enum class PeState : std::uint32_t { Running, Finished, Failed };

/// Text that peers may read while it is written again, so it is copied word by word; a torn text is
/// possible, a torn process is not.
class SharedText {
 public:
  void set(std::string_view text) noexcept;
  std::string get() const;

 private:
  std::array<Word, 63> words_{};
};

/// Why a PE or a team failed.
class FailureText {
 public:
  void set(ErrorCode code, std::string_view text, int origin_pe) noexcept;
  ErrorCode code() const noexcept { return static_cast<ErrorCode>(head() & 0xff); }
  /// World number of the PE where it began.
  int origin_pe() const noexcept { return static_cast<int>(head() >> 8) - 1; }
  std::string text() const { return text_.get(); }

 private:
  std::uint64_t head() const noexcept { return head_.load(std::memory_order_acquire); }

  Word head_{0};  ///< code and origin
  SharedText text_;
};

/// What a PE waits for, if it has waited for long; for its peers, and for whoever looks at the job
/// from outside. Of a PE that waits in several threads, one of the waits.
struct WaitRecord {
  Word version{0};   ///< changes when a wait begins to be shown and when it ends
  Word looks{0};     ///< how often the wait has looked again in vain since it is shown
  Word since_ns{0};  ///< on the steady clock; 0 = nothing is shown
  Word on{0};        ///< PE of the job that has to come first, plus 1; 0 = not one of them
  SharedText text;   ///< "allreduce, call 17 on team world: waiting for PE 1 (...)"
};

/// Who the PE of a control block is; for whoever looks at the job from outside.
struct Identity {
  static constexpr std::uint64_t kMagic = 0x3130304954545554;  // "TUTTI001": this layout

  Word magic{0};  ///< written last
  Word job{0};    ///< a random number that no other job has
  Word pe{0};
  Word pes{0};
  Word pid{0};
};

/// The control plane of one PE; lives in memory that all PEs of its node map. Words are written
/// by their owner unless said otherwise.
struct ControlBlock {
  alignas(kLine) Word nonce{0};  ///< proves that a mapping shows this PE's memory
  Identity identity;

  alignas(kLine) std::atomic<std::uint32_t> doorbell{0};  ///< futex; rung by raisers
  alignas(kLine) Word sleep{0};          ///< SleepWord: how many of my threads sleep, for whom
  alignas(kLine) Word node_sleepers{0};  ///< of the node's first PE: sleepers on the node, by all

  alignas(kLine) std::atomic<PeState> state{PeState::Running};
  FailureText failure;  ///< valid once `state` is Failed
  FailureText trouble;  ///< this PE's last refusal or poisoning

  alignas(kLine) WaitRecord wait;
  Word several_threads{0};  ///< 1 = calls were made by more than one thread of this PE
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
static_assert(sizeof(ControlBlock) <= kControlBytes);

}  // namespace tutti::detail
