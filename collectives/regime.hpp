// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "primitives/team_state.hpp"

namespace tutti::detail {

/// How far the PEs' caches are from each other, followed while a team lives: virtual machines and
/// schedulers move CPUs. All PEs switch at the same call of a lane.
///
/// Every so many calls, counted by their sizes, all PEs of a lane take a look together: one small
/// exchange, in which PE 0 says what holds from this call on and, on lane 0 and not more often than
/// every 100 ms, asks for a new calibration.
class Regime {
 public:
  explicit Regime(TeamState& team);

  /// The line transfer, in ns, that the next call on this lane is planned for; 0 = unknown, which
  /// stays so. `timeout` is the same on all PEs.
  int at_call(int lane, std::chrono::milliseconds timeout) {
    const Followed& mine = lanes_[static_cast<std::size_t>(lane)];
    if (mine.weight >= kLookEvery) [[unlikely]] {
      look(lane, timeout);
    }
    return mine.line_ns;
  }
  /// What a call of this size, the same on all PEs, counts.
  static constexpr std::uint64_t weight_of(std::size_t bytes) noexcept {
    return 1 + (bytes >> kWeightShift);
  }
  void count_call(int lane, std::uint64_t weight) noexcept {
    lanes_[static_cast<std::size_t>(lane)].weight += follows_ ? weight : 0;
  }
  /// What holds on lane 0 now.
  int line_ns() const noexcept { return announced_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  /// A look costs less than 1 us. Small calls take 0.2 us and more, 64 KiB some 10 us: looks are a
  /// thousandth of the time or less.
  static constexpr std::uint64_t kLookEvery = 4096;
  static constexpr unsigned kWeightShift = 16;

  struct Followed {
    std::uint64_t weight = 0;  ///< of the calls since the last look; grows only if looks are wanted
    int line_ns = 0;
  };

  void look(int lane, std::chrono::milliseconds timeout);
  int calibrated(int before);

  TeamState& team_;
  const bool follows_;
  std::array<Followed, kLanes> lanes_;
  std::atomic<int> announced_;  ///< lane 0's, for the other lanes of PE 0
  Clock::time_point calibrated_at_ = Clock::now();
};

}  // namespace tutti::detail
