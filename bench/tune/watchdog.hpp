// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/workload.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {

/// A candidate that got nowhere.
struct Hang {
  Cell cell;
  std::string choice;
  std::chrono::milliseconds silence{};  ///< since it began
};

/// Ends the job when a candidate loops for ever among the real PEs, where no deadline sees it: a
/// thread of PE 0 that knows what runs. Whatever PE loops, PE 0 comes to wait for it. The process
/// then ends with exit status 1, and with it the other PEs: threads of it, or processes of mpirun.
///
/// Thread safety: `begins` and `rests` are PE 0's; what `record` touches may be touched by PE 0
/// while nothing runs, that is after `rests`.
class Watchdog {
 public:
  /// Longer than `PointEffort::call_deadline`, which ends a candidate that waits for ever.
  static constexpr std::chrono::milliseconds kPatience{60'000};

  /// `record`, if any, is called by the thread before it ends the process.
  explicit Watchdog(std::chrono::milliseconds patience,
                    std::function<void(const Hang&)> record = {});
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// A few calls of this candidate begin; they end with the next `begins` or `rests`.
  void begins(const Cell& cell, const std::string& choice);
  void rests();

 private:
  void watch();
  [[noreturn]] void end_job(const Hang& hang) const;

  const std::chrono::milliseconds patience_;
  const std::function<void(const Hang&)> record_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::optional<Hang> running_;
  std::chrono::steady_clock::time_point since_;
  std::thread thread_;  ///< last: it uses all of the others
};

/// What a tuning file keeps of it: a point with one candidate, which hung, and no rounds.
MeasuredPoint point_of(const Hang& hang, const Problem& problem);

/// The candidates of such points, as TUTTI_ALGORITHM names them: "allreduce=ring:chunk_bytes=64K".
std::vector<std::string> hung_choices(const std::vector<MeasuredPoint>& points);

}  // namespace tutti::bench
