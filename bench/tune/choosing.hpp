// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/statistics.hpp"
#include "tutti/tuning.hpp"

/// From measurements to rules: pure functions, tested on made-up data.
namespace tutti::bench {

/// Inside this margin candidates count as equal, and the simplest wins.
inline constexpr double kEquivalence = 0.03;
/// The winner of the size below stays while it is at most so much slower than the best here.
inline constexpr double kHysteresis = 0.05;
/// A rule must beat the built-in choice by so much.
inline constexpr double kRuleMargin = 0.05;

/// Seconds of a call: `seconds[candidate][round]`; a round measured all candidates back to back.
using Rounds = std::vector<std::vector<double>>;

/// Whether a candidate cannot be used here: it was wrong, failed or hung.
bool is_broken(const MeasuredCandidate& candidate);
/// Whether the point says no more than that a candidate hung there and ended the sweep: nothing was
/// measured.
bool ended_sweep(const MeasuredPoint& point);
/// Whether it has a regret to be compared.
bool was_measured(const MeasuredCandidate& candidate);
/// The candidate of this name; nullptr if there is none.
const MeasuredCandidate* find_candidate(const MeasuredPoint& point, std::string_view choice);

/// The geometric mean of two sizes.
std::size_t halfway(std::size_t a, std::size_t b);

/// Every second round, from `first` on: 0 for the half that chooses, 1 for the one that reports.
Rounds half_of(const Rounds& rounds, std::size_t first);

/// The rounds whose calibration lies in a regime.
Rounds rounds_in(const Rounds& rounds, std::span<const double> line_ns, std::string_view regime);

/// For each candidate the geometric mean over the cycles of (its time / the time of the cycle's
/// best), each the median of the ratios within rounds. 1 = the best in every cycle; 0 where a cycle
/// was not measured.
std::vector<double> regrets(std::span<const Rounds> cycles);

/// Time of `reference` / time of `candidate` over all cycles: the geometric mean over the cycles
/// within a round, as a median with its interval. Nothing if a round is missing.
std::optional<Estimate> ratio_over_cycles(std::span<const Rounds> cycles, std::size_t reference,
                                          std::size_t candidate);

/// The first candidate whose regret is within the margin of the smallest one. Candidates come
/// simplest first; those with regret 0 do not count.
std::optional<std::size_t> simplest_of_best(std::span<const double> regrets,
                                            double margin = kEquivalence);

/// A row: the points of one kind of problem in one regime, by size.
using Row = std::vector<const MeasuredPoint*>;
std::vector<Row> rows_of(std::span<const MeasuredPoint> points);

/// What wins at each point of a row: the simplest of the best, or the winner of the size before
/// while it is good enough.
std::vector<const MeasuredCandidate*> winners(const Row& row);

/// Whether the winner is worth a rule: the rounds that did not choose it show that it beats the
/// built-in choice by the margin, or the built-in choice cannot be used.
bool deserves_rule(const MeasuredPoint& point, const MeasuredCandidate& winner);

/// The rules of all rows. Neighbouring sizes with one winner are one range; ranges meet halfway
/// (geometrically) between sizes, but reach no farther than four times a size with this winner and
/// not beyond the sizes measured. Where that would be a cliff (`Curves`), they meet where their
/// times cross, and go on as far as the built-in choice would be one. The evidence of a range is
/// that of its least convincing size.
std::vector<Rule> rules_of(std::span<const MeasuredPoint> points, const MachineFacts& machine = {});

/// The size between two neighbours with different choices (a rule's, or the built-in one) where a
/// measurement tells most: the wider the gap and the dearer a wrong choice, the better.
struct Crossover {
  const MeasuredPoint* low = nullptr;  ///< the smaller neighbour
  std::size_t bytes = 0;
  double worth = 0;
};
/// All of them, the most worth first; none where neighbours agree, both are the built-in choice's,
/// or are nearer than a factor of 1.3.
std::vector<Crossover> crossovers(std::span<const Row> rows);

/// The regime as a range of `Rule::line_ns`; open where it is not known. Near takes in teams whose
/// regime is not known.
Range regime_range(double line_ns);

/// The regime that a calibration says.
std::string_view regime_at(double line_ns);

/// The problem of a point.
Problem problem_of(const MeasuredPoint& point);
/// The inverse: the point is about this problem. Its line transfer stays.
void set_problem(MeasuredPoint& point, const Problem& problem);

}  // namespace tutti::bench
