// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/engine.hpp"
#include "bench/tune/watchdog.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {

/// How a point is measured. Equal on all PEs.
struct PointEffort {
  std::vector<Cycle> cycles;
  double seconds = 1;     ///< for all cycles together; see `least_seconds`
  bool try_apart = true;  ///< try each candidate in a child process first
  MachineSpeed speed;     ///< for the bound
  const std::atomic<bool>* interrupted = nullptr;
  std::vector<std::string> choices = {};                ///< instead of all candidates
  std::vector<const Algorithm*> extra_algorithms = {};  ///< that `choices` may name, too
  std::chrono::milliseconds call_deadline{30'000};      ///< then a candidate has failed
  std::chrono::milliseconds trial_silence{20'000};      ///< the same for a candidate's child
  std::vector<std::string> always = {};  ///< measured too, whatever the first look says
  /// What a line transfer's choice is compared with, instead of the built-in rules'.
  std::function<std::string(int line_ns)> reference = {};
  Watchdog* watchdog = nullptr;                ///< PE 0's, told what runs
  std::vector<std::string> hung_choices = {};  ///< never run: see the function of this name
};

/// Measures one problem: every candidate is tried in a child process, a short look finds the best
/// few, and these, the built-in choice and MPI run interleaved in every cycle. One point for each
/// regime in which every cycle has enough rounds, so none if the line transfer moved meanwhile.
/// Candidates that fail, on whatever PE, are left behind with their team, and the others go on.
/// Nothing when it was interrupted. Collective; `cell.cycle` does not matter.
std::vector<MeasuredPoint> measure_point(Team& team, const Cell& cell, const PointEffort& effort);

}  // namespace tutti::bench
