// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/tune/choosing.hpp"
#include "tutti/measured.hpp"

namespace tutti::bench {

/// All rounds of one cycle.
struct CycleRounds {
  Cycle cycle = Cycle::Same;
  Rounds rounds;  ///< of all candidates; empty for those that did not run
  std::vector<double> mpi;
  std::vector<double> line_ns;  ///< calibration of each round
  int dropped = 0;
};

/// To the four digits that mean something, so that files stay small.
double rounded(double value);

/// What the rounds say in one regime: `candidates` with their times, regrets (from one half of the
/// rounds) and gains over the candidate `reference` (from the other half). The caller adds the
/// facts of the problem. Nothing if a cycle has too few rounds in the regime: cycles contradict
/// each other, and what some of them say is no answer.
std::optional<MeasuredPoint> judge(std::span<const CycleRounds> cycles,
                                   std::vector<MeasuredCandidate> candidates,
                                   std::string_view regime, std::size_t reference);

}  // namespace tutti::bench
