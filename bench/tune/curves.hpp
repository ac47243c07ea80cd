// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/tune/choosing.hpp"

namespace tutti::bench {

/// Neighbouring sizes are no cliff while their times differ by so much, beside what the intervals
/// leave open.
inline constexpr double kCliff = 1.25;

/// How the times of choices go with the size, for one kind of problem in one regime. Between two
/// measured sizes the logarithms are on a straight line; elsewhere the cost model says how the time
/// goes on from the nearest measured size, or, of what was never measured, from that of the choice
/// that it is compared with.
class Curves {
 public:
  /// `kind`: the problem without its size. Nothing is measured yet.
  Curves(const Problem& kind, const MachineFacts& machine);

  /// All that a row measured: the means over the cycles, with their intervals.
  void add(const Row& row);
  /// What a rule's evidence says of it and of the built-in choice.
  void add(const Rule& rule);

  /// A ratio of two times; `measured` says whether one of them was, else both are the cost model's.
  struct Ratio : Interval {
    bool measured = false;
  };
  /// The time of `after` at one size over the time of `before` at another, with its interval. Empty
  /// names: the built-in choice at that size. Nothing where one of them cannot do it.
  std::optional<Ratio> ratio(const std::string& before, std::size_t before_bytes,
                             const std::string& after, std::size_t after_bytes) const;
  /// The same at one size, or the sizes of a step of one element: whether it is a cliff.
  bool is_cliff(const std::string& before, std::size_t before_bytes, const std::string& after,
                std::size_t after_bytes) const;

 private:
  using Samples = std::map<std::size_t, Interval>;  ///< by size
  struct Time {
    Interval us;
    double predicted_us = 0;
    bool measured = false;
  };

  std::optional<Time> time_of(std::string choice, std::size_t bytes) const;
  std::optional<double> predicted(const std::string& choice, std::size_t bytes) const;

  Problem kind_;
  Tuning model_;  ///< the machine's facts, no rules
  std::map<std::string, Samples> samples_;
};

/// The geometric mean over the cycles; of the intervals' ends too.
Interval mean_of(const std::vector<CycleTime>& times);

/// "one_shot:ring_bytes=...,": with all parameters.
std::string full_choice(Collective collective, const std::string& choice);

/// Whether a ratio of neighbours is larger than the interval and `kCliff` allow.
bool is_cliff(const Interval& ratio);

}  // namespace tutti::bench
