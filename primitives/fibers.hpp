// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tutti::detail {

/// A started operation: its body runs on a fiber, a piece at a time.
struct Task {
  std::function<void()> body;
  std::shared_ptr<Task> before;  ///< ends before this one begins; nullptr = nothing
  std::exception_ptr error;      ///< what left the body
  bool done = false;
};

/// The operations that one PE has started. Whoever waits drives all of them, so that PEs may finish
/// them in any order. Fibers are kept and used again. Of one thread of the PE: the one that started
/// the first operation that is still running.
class Fibers {
 public:
  Fibers();
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Starts `body`, after `before`, and runs it up to its first wait.
  std::shared_ptr<Task> start(std::function<void()> body, std::shared_ptr<Task> before);
  /// Whether this thread has operations to drive.
  bool any() const noexcept { return !running_.empty() && std::this_thread::get_id() == thread_; }
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
  std::thread::id thread_;
  std::uint64_t progress_ = 0;
};

}  // namespace tutti::detail
