// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/cells.hpp"
#include "bench/engine.hpp"

namespace tutti::bench {

/// One block of each of two things, in turn, between two calibrations.
template <class Ours, class Theirs>
PrimitiveResult compare(Team& team, int rounds, Ours&& ours, Theirs&& theirs) {
  std::vector<double> mine;
  std::vector<double> other;
  std::vector<double> line;
  for (int round = 0; round < rounds; ++round) {
    line.push_back(team.measure_line_ns());
    if (round % 2 == 0) {
      mine.push_back(largest(team, ours()));
      other.push_back(largest(team, theirs(line.back())));
    } else {
      other.push_back(largest(team, theirs(line.back())));
      mine.push_back(largest(team, ours()));
    }
  }
  PrimitiveResult result;
  result.time = estimate(mine);
  result.other = estimate(other);
  result.vs_other = estimate(ratios(other, mine));
  result.line_ns = estimate(line).median;
  return result;
}

}  // namespace tutti::bench
