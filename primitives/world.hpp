// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "primitives/control.hpp"
#include "primitives/cpu.hpp"
#include "primitives/fibers.hpp"
#include "primitives/heap.hpp"
#include "primitives/settings.hpp"
#include "primitives/transport.hpp"
#include "primitives/wait.hpp"
#include "primitives/worker_pool.hpp"
#include "tutti/team.hpp"

namespace tutti::detail {

/// Another PE, as this PE sees it.
struct Peer {
  ControlBlock* control = nullptr;
  bool direct = false;  ///< reached by load and store
  bool same_process = false;
  int pidfd = -1;
  pid_t pid = 0;
  SegmentRef control_segment;
  std::vector<SegmentRef> heap;  ///< its heap segments, as far as mapped
};

/// One PE's end of a job: its peers, its memory, its way of waiting. Shared by the PE's teams,
/// tensors and blocks. Destroying it posts that the PE has finished.
class World {
 public:
  static std::shared_ptr<World> create(int pe, int pes, const Allgather& allgather,
                                       const Options& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int pe() const noexcept { return pe_; }
  int pes() const noexcept { return static_cast<int>(peers_.size()); }
  const Settings& settings() const noexcept { return settings_; }
  const Options& options() const noexcept { return options_; }
  WaitEngine& waiting() noexcept { return waiting_; }
  /// nullptr where every PE is reached by load and store.
  Transport* transport() const noexcept { return transport_.get(); }
  Peer& peer(int world_pe) noexcept { return peers_[static_cast<std::size_t>(world_pe)]; }
  ControlBlock& control() noexcept { return *own_control_; }
  std::mutex& mutex() noexcept { return mutex_; }
  Heap& heap() noexcept { return heap_; }
  /// A number that no other block or team of this job has.
  std::uint64_t new_id() noexcept;

  /// After raising a word that members of a team poll (sequentially consistent exchange): wakes
  /// those that sleep for it. One load if nobody sleeps.
  ///
  /// Why no wake-up is lost: a raiser writes the word, then reads the sleeper count; a sleeper
  /// raises the count, then reads the word; all four are sequentially consistent, so at least one
  /// of them sees the other.
  void ring(const std::vector<int>& world_pes) noexcept {
    if (node_sleepers_->load(std::memory_order_seq_cst) != 0) [[unlikely]] {
      wake(world_pes);
    }
  }
  /// The same for a word that only `world_pe` waits on.
  void ring_one(int world_pe) noexcept {
    if (node_sleepers_->load(std::memory_order_seq_cst) != 0) [[unlikely]] {
      wake_one(world_pe, sleep_word::kAnything);
    }
  }
  /// Wakes every PE, whatever it waits for.
  void ring_everyone() noexcept;

  /// Why `world_pe` will never make another call, if so.
  struct Departure {
    bool finished;  ///< its body returned; else it failed or died
    int origin_pe;  ///< where it began
    std::string text;
  };
  std::optional<Departure> departed(int world_pe);
  /// This PE's body has failed: tells all PEs.
  void fail(ErrorCode code, const std::string& text, int origin_pe) noexcept;
  /// This PE's last refusal or poisoning, for its peers to quote.
  void set_trouble(ErrorCode code, const std::string& text, int origin_pe) noexcept;
  /// Remembers whether more than one thread of this PE makes calls.
  void note_thread() noexcept {
    const void* here = this_thread_tag();
    if (thread_.load(std::memory_order_relaxed) != here) [[unlikely]] {
      note_other_thread(here);
    }
  }
  /// The calls so far do not count: whoever makes the next one is the PE's thread.
  void forget_thread() noexcept { thread_.store(nullptr, std::memory_order_relaxed); }
  /// Whether this is a forked child of the PE's process: the page is wiped on fork.
  bool forked() const noexcept { return *fork_page_ == 0; }
  /// Throws `Error` in a forked child, which may not use the parent's teams.
  void check_not_forked() const {
    if (forked()) [[unlikely]] {
      refuse_fork();
    }
  }

  /// Maps a peer's heap segment if that has not happened yet.
  void map_peer_segment(int world_pe, std::uint32_t index, int fd, std::size_t bytes,
                        std::uint64_t shown_as);

  /// Measured line transfer between this job's PEs at start-up, in ns; 0 = not known.
  int line_ns() const noexcept { return line_ns_; }
  void set_line_ns(int line_ns) noexcept { line_ns_ = line_ns; }

  /// How a team of `pes` members makes its barriers; equal on all of them.
  BarrierKind barrier_of(int pes) const noexcept {
    return settings_.barrier.value_or(usual_barrier(pes, waiting_.spins() == 0));
  }

  /// The operations that this PE has started.
  Fibers& fibers() noexcept { return fibers_; }

  /// The threads that share this PE's copying and folding; nullptr if it does that alone.
  WorkerPool* workers() const noexcept { return workers_.get(); }

  Word& node_sleepers() noexcept { return *node_sleepers_; }
  /// Held by the thread whose wait the PE's record shows.
  std::atomic<bool>& wait_shown() noexcept { return wait_shown_; }

  /// What the tuner made of the settings, once for all teams of this PE.
  struct Remembered {
    std::once_flag once;
    std::shared_ptr<const void> value;
  };
  Remembered& tuner_memory() noexcept { return tuner_memory_; }

 private:
  World(int pe, int pes, const Options& options, bool one_process);
  void connect(const Allgather& allgather);
  void choose_spins(const Allgather& allgather);
  void wake(const std::vector<int>& world_pes) noexcept;
  void wake_one(int world_pe, std::uint32_t raiser_key) noexcept;
  [[noreturn]] void refuse_fork() const;
  void note_other_thread(const void* here) noexcept;

  int pe_;
  Options options_;
  Settings settings_;
  bool one_process_;
  std::vector<Peer> peers_;
  SegmentRef own_segment_;
  ControlBlock* own_control_ = nullptr;
  Word* node_sleepers_ = nullptr;
  WaitEngine waiting_;
  std::mutex mutex_;
  Heap heap_;
  std::unique_ptr<Transport> transport_;
  std::atomic<std::uint64_t> ids_{0};
  std::atomic<const void*> thread_{nullptr};  ///< stands for the thread that makes this PE's calls
  std::atomic<bool> wait_shown_{false};       ///< one of this PE's threads shows its wait
  char* fork_page_ = nullptr;
  int line_ns_ = 0;
  Fibers fibers_;
  Remembered tuner_memory_;
  std::unique_ptr<WorkerPool> workers_;
};

}  // namespace tutti::detail
