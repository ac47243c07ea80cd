// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/tuning.hpp"

/// Made-up results of a sweep.
namespace tutti::tests {

/// A candidate with its regret, and the built-in choice's time over its own.
struct Made {
  std::string_view choice;
  double regret = 1;
  double vs_builtin = 1;
};

inline MeasuredPoint point_of(std::size_t bytes, const std::vector<Made>& candidates,
                              double line_ns = 50) {
  MeasuredPoint point;
  point.pes = 2;
  point.bytes = bytes;
  point.line_ns = line_ns;
  point.rounds = 40;
  point.builtin = "one_shot";
  for (const Made& made : candidates) {
    MeasuredCandidate candidate;
    candidate.choice = made.choice;
    candidate.regret = made.regret;
    candidate.vs_builtin =
        Interval{made.vs_builtin, made.vs_builtin - 0.01, made.vs_builtin + 0.01};
    const double us = 10 * made.regret;
    candidate.times = {{Cycle::Same, {us, us - 0.1, us + 0.1}}};
    point.candidates.push_back(candidate);
  }
  return point;
}

}  // namespace tutti::tests
