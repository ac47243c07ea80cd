// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "primitives/cpu.hpp"

namespace tutti::detail {

/// A started operation: its body runs on a fiber, a piece at a time.
struct Task {
  std::function<void()> body;
  std::shared_ptr<Task> before;  ///< ends before this one begins; nullptr = nothing
  std::exception_ptr error;      ///< what left the body
  bool done = false;
};

/// The operations that one PE has started. Whoever waits drives all of them, so that PEs may finish
/// them in any order. Fibers are kept and used again.
///
/// Operations in flight belong to one thread of the PE, the one that started the first of them;
/// what other threads of it wait for concerns them not.
class Fibers {
 public:
  Fibers();
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Starts `body`, after `before`, and runs it up to its first wait. Throws `Error`
  /// (InvalidArgument) if operations of another thread are in flight.
  std::shared_ptr<Task> start(std::function<void()> body, std::shared_ptr<Task> before);
  /// Whether this thread has operations to drive.
  bool any() const noexcept { return owner_.load(std::memory_order_relaxed) == this_thread_tag(); }
  /// Whether an operation runs now, rather than the program itself.
  bool inside() const noexcept { return current_ != nullptr; }
  /// Lets every operation go on once. Returns whether one of them got past a wait or ended.
  bool drive();
  /// Of an operation that waits: lets the program go on.
  void yield();
  /// Of an operation: a wait has ended.
  void note_progress() noexcept { ++progress_; }

 private:
  class Worker;

  struct Running {
    std::shared_ptr<Task> task;
    Worker* worker = nullptr;  ///< nullptr = not begun
  };

  void resume(Running& running);
  Worker* idle_worker();

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  std::deque<Running> running_;  ///< in the order in which they were started
  Worker* current_ = nullptr;
  std::atomic<const void*> owner_{nullptr};  ///< stands for the thread; nullptr = nothing runs
  std::uint64_t progress_ = 0;
};

}  // namespace tutti::detail
