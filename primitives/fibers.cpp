// SPDX-License-Identifier: Apache-2.0
#include "primitives/fibers.hpp"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

#include "primitives/fiber_switch.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

namespace context = boost::context;
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

}  // namespace

/// A fiber that runs one task after another.
class Fibers::Worker {
 public:
  Worker() {
    context::protected_fixedsize_stack allocator(kStackBytes);
    const context::stack_context stack = allocator.allocate();
    mine_.adopt_fiber(static_cast<const std::byte*>(stack.sp) - stack.size, stack.size);
    fiber_ = context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack),
                            allocator, [this](context::fiber&& program) {
                              program_ = std::move(program);
                              mine_.back_from(programs_);
                              run();
                              mine_.leave_for_good(programs_);
                              return std::move(program_);
                            });
  }
  /// Ends the fiber. A task that is not done, which nobody waits for, is unwound where it waits.
  ~Worker() {
    stopping_ = true;
    if (!busy_) switch_to_fiber();
    fiber_ = context::fiber();
    mine_.drop_fiber();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Called by the program: goes on with `task` until it waits or ends.
  void resume(Task& task) {
    task_ = &task;
    busy_ = true;
    switch_to_fiber();
  }
  /// Called on the fiber: back to the program.
  void yield() {
    mine_.leave_for(programs_);
    program_ = std::move(program_).resume();
    mine_.back_from(programs_);
  }

 private:
  void switch_to_fiber() {
    programs_.adopt_current();
    programs_.leave_for(mine_);
    fiber_ = std::move(fiber_).resume();
    programs_.back_from(mine_);
  }

  void run() {
    while (!stopping_) {
      try {
        task_->body();
      } catch (const context::detail::forced_unwind&) {
        throw;  // the fiber itself ends
      } catch (...) {
        task_->error = std::current_exception();
      }
      task_->done = true;
      busy_ = false;
      yield();
    }
  }

  context::fiber fiber_;
  context::fiber program_;
  SwitchableStack mine_;
  SwitchableStack programs_;
  Task* task_ = nullptr;
  bool busy_ = false;  ///< with `task_`, which is not done
  bool stopping_ = false;
};

Fibers::Fibers() = default;
Fibers::~Fibers() = default;

Fibers::Worker* Fibers::idle_worker() {
  if (idle_.empty()) {
    workers_.push_back(std::make_unique<Worker>());
    return workers_.back().get();
  }
  Worker* worker = idle_.back();
  idle_.pop_back();
  return worker;
}

void Fibers::resume(Running& running) {
  if (running.worker == nullptr) {
    if (running.task->before != nullptr && !running.task->before->done) return;
    running.task->before.reset();
    running.worker = idle_worker();
    ++progress_;
  }
  Worker* const outer = std::exchange(current_, running.worker);
  running.worker->resume(*running.task);
  current_ = outer;
}

std::shared_ptr<Task> Fibers::start(std::function<void()> body, std::shared_ptr<Task> before) {
  auto task = std::make_shared<Task>(Task{std::move(body), std::move(before), nullptr, false});
  const void* nobody = nullptr;
  if (!owner_.compare_exchange_strong(nobody, this_thread_tag()) && nobody != this_thread_tag()) {
    throw Error(ErrorCode::InvalidArgument,
                "start: another thread of this PE has operations in flight; one thread at a time "
                "starts, tests and finishes");
  }
  running_.push_back({task, nullptr});
  if (!inside()) drive();
  return task;
}

bool Fibers::drive() {
  if (!any() || inside()) return false;
  const std::uint64_t before = progress_;
  // A body may start further operations: they join at the end.
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Running running = running_[i];
    resume(running);
    running_[i].worker = running.worker;
    if (!running.task->done) continue;
    ++progress_;
    idle_.push_back(running.worker);
    running.task->body = nullptr;  // lets go of the team
    running_[i].task.reset();
  }
  std::erase_if(running_, [](const Running& running) { return running.task == nullptr; });
  if (running_.empty()) owner_.store(nullptr);
  return progress_ != before;
}

void Fibers::yield() { current_->yield(); }

}  // namespace tutti::detail
