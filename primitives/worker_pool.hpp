// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "primitives/copy.hpp"

namespace tutti::detail {

/// Least bytes of a piece that is worth another thread. Measured (2 CPUs, copies within the
/// caches): 128 KiB take 2.5 us, past the caches 5 us; a worker that spins takes its piece over for
/// 0.2 us, one that sleeps comes after some tens of us, and what it has not begun by then the
/// caller does itself.
inline constexpr std::size_t kWorkerPieceBytes = std::size_t{128} << 10;

/// The threads of one PE that share its copying and folding with whoever makes the call. They are
/// made at the first work that is shared, spin shortly after each piece, then sleep.
///
/// One caller at a time has them; who comes second does its pieces alone. It could wait instead,
/// but the cores are in use already, and nobody who does not wait can be part of a deadlock.
///
/// Invariants: (1) a worker's `told` is raised by one only when its `done` is twice that; (2) the
/// job is written only then, and read only by who has begun a piece.
class WorkerPool {
 public:
  /// `workers`: the caller and workers - 1 threads, which keep to `cpus`.
  WorkerPool(int workers, const cpu_set_t& cpus, int spins);
  /// Ends the threads. Nobody shares work any more.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// In a forked child, which has no other threads: forgets them.
  void abandon() noexcept { static_cast<void>(threads_.release()); }

  /// In how many pieces `bytes` of output are worth to be cut.
  int pieces(std::size_t bytes) const noexcept {
    const std::size_t most = bytes / kWorkerPieceBytes;
    return most < static_cast<std::size_t>(workers_) ? static_cast<int>(most < 1 ? 1 : most)
                                                     : workers_;
  }

  /// Runs piece(0), ..., piece(pieces - 1), each once, and returns when all have ended: their
  /// effects are visible to the caller. `piece` may not throw.
  template <class Piece>
  void share(int pieces, const Piece& piece) noexcept {
    static_assert(noexcept(piece(0)));
    share({&piece,
           [](const void* object, int i) noexcept { (*static_cast<const Piece*>(object))(i); }},
          pieces);
  }

 private:
  struct Job {
    const void* piece = nullptr;
    void (*run)(const void* piece, int i) noexcept = nullptr;
  };
  /// What the caller and one worker say to each other, each in a line of its own.
  struct Helper {
    alignas(64) std::atomic<std::uint32_t> told{0};  ///< pieces it was given; the caller writes
    std::atomic<std::uint32_t> asleep{0};
    alignas(64) std::atomic<std::uint32_t> done{0};  ///< twice the pieces that ended, odd in one
  };

  void share(const Job& job, int pieces) noexcept;
  void start() noexcept;
  void tell(Helper& helper) noexcept;
  void await_done(Helper& helper) noexcept;
  void await_told(Helper& helper, std::uint32_t seen) const noexcept;
  void work(int helper) noexcept;

  const int workers_;
  const cpu_set_t cpus_;
  const int spins_;
  std::atomic<bool> taken_{false};
  bool started_ = false;
  Job job_;  ///< without a function: ends the threads
  std::atomic<std::uint32_t> caller_asleep_{0};
  std::unique_ptr<Helper[]> helpers_;
  std::unique_ptr<std::vector<std::thread>> threads_;
};

/// Bounds of `pieces` equal contiguous parts of [0, bytes) that begin at cache lines of `to`,
/// or, where no whole number of elements leads there, at multiples of a line. `element_bytes`
/// divides a line.
struct PieceBounds {
  PieceBounds(const void* to, std::size_t bytes, std::size_t element_bytes, int pieces) noexcept;
  /// Where piece `i` begins; `at(pieces)` is the end of the last.
  std::size_t at(int i) const noexcept;

  std::size_t bytes;
  std::size_t head;  ///< bytes up to the first line
  std::size_t pieces;
};

/// `copy`, shared with the workers if there are any and it is worth it.
void share_copy(WorkerPool& pool, void* to, const void* from, std::size_t bytes,
                Store store) noexcept;
inline void copy(WorkerPool* pool, void* to, const void* from, std::size_t bytes,
                 Store store) noexcept {
  if (pool == nullptr) [[likely]] {
    copy(to, from, bytes, store);
  } else {
    share_copy(*pool, to, from, bytes, store);
  }
}

}  // namespace tutti::detail
