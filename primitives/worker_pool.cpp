// SPDX-License-Identifier: Apache-2.0
#include "primitives/worker_pool.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "primitives/cpu.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t kLineBytes = 64;

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// Of piece t, `done` says 2 t - 2 before it, 2 t - 1 while somebody does it, 2 t after it.

/// Whether piece `t` is now this thread's to do.
bool begin(std::atomic<std::uint32_t>& done, std::uint32_t t) noexcept {
  std::uint32_t before = 2 * t - 2;
  return done.compare_exchange_strong(before, 2 * t - 1, std::memory_order_acquire,
                                      std::memory_order_relaxed);
}

/// Publishes what the piece wrote.
void end(std::atomic<std::uint32_t>& done, std::uint32_t t) noexcept {
  done.store(2 * t, std::memory_order_seq_cst);
}

/// Signals are for the program's own threads: those made meanwhile take none.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

WorkerPool::WorkerPool(int workers, const cpu_set_t& cpus, int spins)
    : workers_(workers),
      cpus_(cpus),
      spins_(spins),
      helpers_(std::make_unique<Helper[]>(static_cast<std::size_t>(workers) - 1)),
      threads_(std::make_unique<std::vector<std::thread>>()) {
  threads_->reserve(static_cast<std::size_t>(workers) - 1);
}

WorkerPool::~WorkerPool() {
  if (threads_ == nullptr) return;
  job_ = {};
  for (std::size_t i = 0; i < threads_->size(); ++i) tell(helpers_[i]);
  for (std::thread& thread : *threads_) thread.join();
}

void WorkerPool::start() noexcept {
  started_ = true;
  const SignalsBlocked none;
  try {
    while (threads_->size() + 1 < static_cast<std::size_t>(workers_)) {
      const auto helper = static_cast<int>(threads_->size());
      threads_->emplace_back([this, helper] { work(helper); });
      pthread_setname_np(threads_->back().native_handle(), "tutti-worker");
    }
  } catch (const std::exception& error) {
    // Fewer hands, same result.
    std::fprintf(stderr, "tutti: %zu of %d workers of a PE started: %s\n", threads_->size() + 1,
                 workers_, error.what());
  }
}

void WorkerPool::share(const Job& job, int pieces) noexcept {
  if (taken_.exchange(true, std::memory_order_acquire)) {
    for (int i = 0; i < pieces; ++i) job.run(job.piece, i);
    return;
  }
  if (!started_) start();
  const int helpers = std::min(pieces - 1, static_cast<int>(threads_->size()));
  job_ = job;
  for (int i = 0; i < helpers; ++i) tell(helpers_[static_cast<std::size_t>(i)]);
  job.run(job.piece, 0);
  for (int i = helpers + 1; i < pieces; ++i) job.run(job.piece, i);
  // What a worker has not begun by now (it sleeps, or has no CPU) costs less to do than to wait
  // for.
  for (int i = helpers; i > 0; --i) {
    Helper& helper = helpers_[static_cast<std::size_t>(i) - 1];
    if (!begin(helper.done, helper.told.load(std::memory_order_relaxed))) continue;
    job.run(job.piece, i);
    end(helper.done, helper.told.load(std::memory_order_relaxed));
  }
  for (int i = 0; i < helpers; ++i) await_done(helpers_[static_cast<std::size_t>(i)]);
  taken_.store(false, std::memory_order_release);
}

// A sleeper says that it sleeps, then looks at the word; who raises the word looks for sleepers
// after that. All four are sequentially consistent, so one of the two sees the other.

void WorkerPool::tell(Helper& helper) noexcept {
  // Publishes the job.
  helper.told.store(helper.told.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  if (helper.asleep.load(std::memory_order_seq_cst) != 0) wake(helper.told);
}

void WorkerPool::await_told(Helper& helper, std::uint32_t seen) const noexcept {
  for (int i = 0; i < spins_; ++i) {
    if (helper.told.load(std::memory_order_acquire) != seen) return;
    cpu_pause();
  }
  helper.asleep.store(1, std::memory_order_seq_cst);
  while (helper.told.load(std::memory_order_seq_cst) == seen) sleep_while(helper.told, seen);
  helper.asleep.store(0, std::memory_order_relaxed);
}

void WorkerPool::await_done(Helper& helper) noexcept {
  const std::uint32_t ended = 2 * helper.told.load(std::memory_order_relaxed);
  for (int i = 0; i < spins_; ++i) {
    if (helper.done.load(std::memory_order_acquire) == ended) return;
    cpu_pause();
  }
  caller_asleep_.store(1, std::memory_order_seq_cst);
  while (helper.done.load(std::memory_order_seq_cst) != ended) sleep_while(helper.done, ended - 1);
  caller_asleep_.store(0, std::memory_order_relaxed);
}

void WorkerPool::work(int index) noexcept {
  sched_setaffinity(0, sizeof cpus_, &cpus_);
  Helper& helper = helpers_[static_cast<std::size_t>(index)];
  for (std::uint32_t seen = 0;;) {
    await_told(helper, seen);
    seen = helper.told.load(std::memory_order_acquire);
    if (!begin(helper.done, seen)) continue;  // the caller did it: the job is another by now
    if (job_.run == nullptr) return;
    job_.run(job_.piece, index + 1);
    end(helper.done, seen);
    if (caller_asleep_.load(std::memory_order_seq_cst) != 0) wake(helper.done);
  }
}

PieceBounds::PieceBounds(const void* to, std::size_t all_bytes, std::size_t element_bytes,
                         int n) noexcept
    : bytes(all_bytes),
      head(-reinterpret_cast<std::uintptr_t>(to) % kLineBytes),
      pieces(static_cast<std::size_t>(n)) {
  if (head % element_bytes != 0 || head > bytes) head = 0;
}

std::size_t PieceBounds::at(int i) const noexcept {
  if (i == 0) return 0;
  if (static_cast<std::size_t>(i) == pieces) return bytes;
  const std::size_t lines = (bytes - head) / kLineBytes;
  return head + lines * static_cast<std::size_t>(i) / pieces * kLineBytes;
}

void share_copy(WorkerPool& pool, void* to, const void* from, std::size_t bytes,
                Store store) noexcept {
  const int pieces = pool.pieces(bytes);
  if (pieces == 1) return copy(to, from, bytes, store);
  const PieceBounds bounds(to, bytes, 1, pieces);
  pool.share(pieces, [&](int i) noexcept {
    const std::size_t begin = bounds.at(i);
    copy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
         bounds.at(i + 1) - begin, store);
  });
}

}  // namespace tutti::detail
