// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// What sanitizers have to be told when a thread goes on with another stack; nothing otherwise.

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tutti::detail {

/// One stack: a thread's own, or a fiber's.
class SwitchableStack {
 public:
  /// The stack that runs now; known to AddressSanitizer once it has been left.
  void adopt_current() noexcept {
#if defined(__SANITIZE_THREAD__)
    tsan_ = __tsan_get_current_fiber();
#endif
  }
  void adopt_fiber([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_THREAD__)
    tsan_ = __tsan_create_fiber(0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    bottom_ = bottom;
    bytes_ = bytes;
#endif
  }
  void drop_fiber() noexcept {
#if defined(__SANITIZE_THREAD__)
    if (tsan_ != nullptr) __tsan_destroy_fiber(tsan_);
    tsan_ = nullptr;
#endif
#if defined(__SANITIZE_ADDRESS__)
    // The last frames were left, not returned from: what is mapped here next would seem poisoned.
    if (bottom_ != nullptr) __asan_unpoison_memory_region(bottom_, bytes_);
    bottom_ = nullptr;
#endif
  }

  /// Just before this stack is left for `next`.
  void leave_for([[maybe_unused]] SwitchableStack& next) noexcept {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(next.tsan_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fake_, next.bottom_, next.bytes_);
#endif
  }
  /// The same for the last time.
  void leave_for_good([[maybe_unused]] SwitchableStack& next) noexcept {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(next.tsan_, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.bytes_);
#endif
  }
  /// Just after this stack goes on, which `previous` has left.
  void back_from([[maybe_unused]] SwitchableStack& previous) noexcept {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_, &previous.bottom_, &previous.bytes_);
#endif
  }

 private:
#if defined(__SANITIZE_THREAD__)
  void* tsan_ = nullptr;
#endif
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_ = nullptr;
#endif
};

}  // namespace tutti::detail
