// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/engine.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bench {

/// What a sweep covers. Equal on all PEs.
struct SweepPlan {
  std::vector<Collective> collectives;
  std::vector<DType> types;
  std::vector<Placement> placements;
  std::vector<std::size_t> bytes;
  Cycle cycle = Cycle::Same;
  double budget_seconds = 60;
  double margin = 0.05;  ///< a rule must beat the built-in choice by so much
};

/// What a sweep found for one cell.
struct Finding {
  Cell cell;
  std::string winner;  ///< "" if the built-in choice stays
  Evidence evidence;   ///< from the half of the rounds that did not choose
  double line_ns = 0;  ///< median calibration of its rounds
};

/// Measures every cell of the plan within the budget: a short round of all candidates, then the
/// best of them and the built-in choice, interleaved. The winner is chosen on the even rounds and
/// reported from the odd ones; a candidate with a wrong element is disqualified. Collective; PE 0
/// prints progress with the time left to stderr.
std::vector<Finding> sweep(Team& team, const SweepPlan& plan);

/// The rules of the findings: neighbouring sizes with one winner become one range.
std::vector<Rule> rules_of(const std::vector<Finding>& findings, const Team& team);

}  // namespace tutti::bench
