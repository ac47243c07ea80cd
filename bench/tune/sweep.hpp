// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/tune/grid.hpp"
#include "bench/tune/watchdog.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {

/// What a sweep is told beside its plan. Equal on all PEs but for `found` and `save`, which are
/// PE 0's.
struct SweepControl {
  const std::atomic<bool>* interrupted = nullptr;
  bool try_apart = true;
  std::function<void(const Tuning&)> save = {};  ///< called now and then, and at the end
  std::chrono::milliseconds patience = Watchdog::kPatience;  ///< with a candidate that loops
  std::vector<std::string> choices = {};                     ///< instead of all candidates
  std::vector<const Algorithm*> extra_algorithms = {};       ///< that `choices` may name, too
};

/// Measures the plan on a team within the budget and adds what it finds to `found`: first the grid,
/// best use first, then crossovers by bisection while the budget lasts. Points that `found` has
/// already are not measured again. `found` is a valid tuning file at any time, and saved as one.
/// A candidate that loops for ever is added to it as `hung` and ends the process, see `Watchdog`;
/// it is not run again by a sweep that goes on with the file. Collective; PE 0 decides what comes
/// next and prints progress with the time left to stderr. Returns whether the whole grid was
/// measured.
bool sweep(Team& team, const SweepPlan& plan, const SweepControl& control, Tuning& found);

}  // namespace tutti::bench
