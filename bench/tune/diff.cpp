// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/diff.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "bench/tune/choosing.hpp"
#include "bench/tune/curves.hpp"
#include "bench/tune/kinds.hpp"

namespace tutti::bench {
namespace {

/// Two PEs have one pair of operands, and all operations on numbers commute bit by bit. Of three
/// and more, order matters where something is rounded.
bool bits_may_change(const Explanation& before, const Explanation& after) {
  const Problem& problem = before.problem;
  if (!reduces(problem.collective) || problem.contract != Contract::Consistent) return false;
  if (before.algorithm->keeps_ordered && after.algorithm->keeps_ordered) return false;
  if (problem.op == Op::User) return true;
  const bool exact = is_integer(problem.dtype) || problem.op == Op::Min || problem.op == Op::Max;
  return !exact && problem.pes > 2;
}

const MeasuredCandidate* find_choice(const MeasuredPoint& point, const std::string& choice) {
  const auto found =
      std::ranges::find_if(point.candidates, [&](const MeasuredCandidate& candidate) {
        return !candidate.times.empty() &&
               full_choice(point.collective, candidate.choice) == choice;
      });
  return found == point.candidates.end() ? nullptr : &*found;
}

/// Logarithm of the gain at a point: the mean over the cycles that both choices have.
std::optional<double> log_gain(const MeasuredPoint& point, const Change& change) {
  const MeasuredCandidate* before = find_choice(point, change.before);
  const MeasuredCandidate* after = find_choice(point, change.after);
  if (before == nullptr || after == nullptr) return std::nullopt;
  double sum = 0;
  int cycles = 0;
  for (const CycleTime& was : before->times) {
    const auto is = std::ranges::find(after->times, was.cycle, &CycleTime::cycle);
    if (is == after->times.end() || was.us.median <= 0 || is->us.median <= 0) continue;
    sum += std::log(was.us.median / is->us.median);
    ++cycles;
  }
  if (cycles == 0) return std::nullopt;
  return sum / cycles;
}

/// The mean gain over the points of a file inside the range of a change.
std::optional<double> measured_gain(const Tuning& file, const Change& change) {
  double sum = 0;
  int found = 0;
  for (const MeasuredPoint& point : file.points) {
    if (!alike(problem_of(point), change.problem)) continue;
    if (point.bytes < change.low || point.bytes > change.high) continue;
    const auto gain = log_gain(point, change);
    if (!gain) continue;
    sum += *gain;
    ++found;
  }
  if (found == 0) return std::nullopt;
  return std::exp(sum / found);
}

void expect_gain(Change& change, const Tuning& before, const Tuning& after, double predicted) {
  std::optional<double> gain = measured_gain(after, change);
  if (!gain) gain = measured_gain(before, change);
  change.measured = gain.has_value();
  change.gain = gain.value_or(predicted);
}

void append_changes(Problem problem, const std::vector<std::uint64_t>& sizes, const Tuning& before,
                    const Tuning& after, std::vector<Change>& all) {
  std::vector<Change> mine;
  std::vector<double> predicted;
  bool follows = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    problem = of_size(problem, sizes[i]);
    const Explanation old = explain(problem, before);
    const Explanation now = explain(problem, after);
    const std::string was = describe(*old.algorithm, old.params);
    const std::string is = describe(*now.algorithm, now.params);
    const std::size_t high = i + 1 < sizes.size() ? sizes[i + 1] - 1 : kLargestKind;
    if (was == is) {
      follows = false;
      continue;
    }
    if (follows && mine.back().before == was && mine.back().after == is) {
      mine.back().high = high;
      continue;
    }
    Change change{problem, sizes[i], high, was, is, 1, false, bits_may_change(old, now)};
    mine.push_back(change);
    predicted.push_back(old.predicted_us / now.predicted_us);
    follows = true;
  }
  for (std::size_t i = 0; i < mine.size(); ++i) expect_gain(mine[i], before, after, predicted[i]);
  all.insert(all.end(), mine.begin(), mine.end());
}

}  // namespace

std::vector<Change> changes(const Tuning& before, const Tuning& after) {
  std::vector<const Rule*> rules;
  for (const Rule& rule : before.rules) rules.push_back(&rule);
  for (const Rule& rule : after.rules) rules.push_back(&rule);
  const bool threads = measured_on_threads(before) || measured_on_threads(after);
  const std::vector<std::uint64_t> sizes = sizes_of(rules);
  std::vector<Change> all;
  for (const Problem& kind : kinds_of(rules, threads))
    append_changes(kind, sizes, before, after, all);
  return all;
}

}  // namespace tutti::bench
