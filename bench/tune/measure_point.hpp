// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "bench/engine.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {

/// How a point is measured. Equal on all PEs.
struct PointEffort {
  std::vector<Cycle> cycles;
  double seconds = 1;     ///< for all cycles together
  bool try_apart = true;  ///< try each candidate in a child process first
  MachineSpeed speed;     ///< for the bound
  const std::atomic<bool>* interrupted = nullptr;
  std::vector<std::string> choices = {};                ///< instead of all candidates
  std::vector<const Algorithm*> extra_algorithms = {};  ///< that `choices` may name, too
  std::chrono::milliseconds call_deadline{30'000};      ///< then a candidate has failed
  std::chrono::milliseconds trial_silence{20'000};      ///< the same for a candidate's child
  std::size_t always = 0;  ///< so many of the choices are measured whatever the first look says
};

/// Measures one problem: every candidate is tried in a child process, a short look finds the best
/// few, and these, the built-in choice and MPI run interleaved in every cycle. One point for each
/// regime that the line transfer was in. Candidates that fail, on whatever PE, are left behind
/// with their team, and the others go on. Collective; `cell.cycle` does not matter.
std::vector<MeasuredPoint> measure_point(Team& team, const Cell& cell, const PointEffort& effort);

}  // namespace tutti::bench
