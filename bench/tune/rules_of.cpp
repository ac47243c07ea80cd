// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "bench/tune/choosing.hpp"
#include "bench/tune/curves.hpp"
#include "bench/tune/judge.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t kReach = 4;  ///< a size says little about sizes farther away
constexpr std::size_t kFarthest = std::size_t{1} << 30;
constexpr int kSteps = 48;  ///< between two measured sizes, in search of a crossing

std::string_view algorithm_of(std::string_view choice) {
  return choice.substr(0, choice.find(':'));
}

double gain_of(const Rule& rule) { return rule.evidence->vs_builtin.value_or(1); }

/// Of the rounds that report, as the winner's own gain is: over all cycles.
std::optional<std::array<double, 2>> ratio_of(const MeasuredCandidate& second,
                                              const MeasuredCandidate& winner) {
  if (!second.vs_builtin || !winner.vs_builtin) return std::nullopt;
  return std::array{rounded(winner.vs_builtin->low / second.vs_builtin->high),
                    rounded(winner.vs_builtin->high / second.vs_builtin->low)};
}

Evidence evidence_of(const MeasuredPoint& point, const MeasuredCandidate& winner) {
  Evidence evidence;
  evidence.bytes = point.bytes;
  evidence.rounds = point.rounds / 2;
  if (!winner.times.empty()) {
    const Interval time = mean_of(winner.times);
    evidence.median_us = rounded(time.median);
    evidence.ci95_us = {rounded(time.low), rounded(time.high)};
  }
  if (winner.vs_builtin) evidence.vs_builtin = winner.vs_builtin->median;
  const std::string_view name = algorithm_of(winner.choice);
  const MeasuredCandidate* second = nullptr;
  for (const MeasuredCandidate& other : point.candidates) {
    if (!was_measured(other) || algorithm_of(other.choice) == name) continue;
    if (second == nullptr || other.regret < second->regret) second = &other;
  }
  if (second != nullptr) {
    evidence.runner_up = algorithm_of(second->choice);
    evidence.runner_up_ratio = ratio_of(*second, winner);
  }
  return evidence;
}

Rule rule_of(const MeasuredPoint& point, const MeasuredCandidate& winner) {
  const Forced choice = parse_choice(point.collective, winner.choice, "sweep");
  const auto pes = static_cast<std::uint64_t>(point.pes);
  Rule rule;
  rule.collective = point.collective;
  rule.pes = {pes, pes};
  rule.nodes = {1, 1};
  rule.bytes = {point.bytes, point.bytes};
  rule.line_ns = regime_range(point.line_ns);
  rule.dtype = point.dtype;
  if (reduces(point.collective)) rule.contract = point.contract;
  rule.memory = point.memory;
  rule.algorithm = choice.algorithm;
  rule.params = choice.params;
  rule.evidence = evidence_of(point, winner);
  return rule;
}

bool same_choice(const Rule& a, const Rule& b) {
  return a.algorithm == b.algorithm && a.params == b.params;
}

/// A row in the making of rules: at each size the choice of a rule, or "" for the built-in one.
class RowRules {
 public:
  RowRules(const Row& row, const MachineFacts& machine)
      : row_(row), won_(winners(row)), curves_(kind_of(*row.front()), machine) {
    curves_.add(row);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool deserves = won_[i] != nullptr && deserves_rule(*row[i], *won_[i]);
      choices_.push_back(deserves ? full_choice(row[i]->collective, won_[i]->choice) : "");
    }
  }

  void append(std::vector<Rule>& rules) const {
    for (std::size_t i = 0; i < row_.size(); ++i) {
      if (choices_[i].empty()) continue;
      Rule rule = rule_of(*row_[i], *won_[i]);
      rule.bytes.low = i == 0 ? lower_end() : between(i - 1).second_from;
      rule.bytes.high = i + 1 == row_.size() ? upper_end() : between(i).first_to;
      if (i > 0 && !choices_[i - 1].empty() && same_choice(rules.back(), rule)) {
        rules.back().bytes.high = rule.bytes.high;
        if (gain_of(rule) < gain_of(rules.back())) rules.back().evidence = rule.evidence;
      } else {
        rules.push_back(std::move(rule));
      }
    }
  }

 private:
  /// How far the choice of the smaller of two neighbours goes, and where that of the larger begins.
  struct Ends {
    std::size_t first_to;
    std::size_t second_from;
  };

  static Problem kind_of(const MeasuredPoint& point) {
    Problem kind = problem_of(point);
    kind.count = 0;
    return kind;
  }

  Ends between(std::size_t i) const {
    const std::size_t low = row_[i]->bytes;
    const std::size_t high = row_[i + 1]->bytes;
    const std::string& first = choices_[i];
    const std::string& second = choices_[i + 1];
    const std::size_t middle = halfway(low, high);
    const Ends usual = {std::min(middle, low * kReach), std::max(middle + 1, high / kReach)};
    if (first == second) return {middle, middle + 1};
    const bool meet = usual.first_to + 1 == usual.second_from;
    const std::string& next = meet ? second : built_in_;
    const std::string& previous = meet ? first : built_in_;
    const bool falls_off =
        (!first.empty() && curves_.is_cliff(first, usual.first_to, next, usual.first_to + 1)) ||
        (!second.empty() &&
         curves_.is_cliff(previous, usual.second_from - 1, second, usual.second_from));
    if (!falls_off) return usual;
    const std::size_t here = crossing(low, high, first, second);
    return {here, here + 1};
  }

  /// The size in [low, high) at which two choices cost most nearly the same.
  std::size_t crossing(std::size_t low, std::size_t high, const std::string& first,
                       const std::string& second) const {
    std::size_t best = low;
    double least = std::numeric_limits<double>::infinity();
    const double step =
        std::pow(static_cast<double>(high) / static_cast<double>(std::max<std::size_t>(low, 1)),
                 1.0 / kSteps);
    for (int k = 0; k < kSteps; ++k) {
      const auto bytes = static_cast<std::size_t>(static_cast<double>(low) * std::pow(step, k));
      const auto ratio = curves_.ratio(first, bytes, second, bytes);
      if (!ratio || std::abs(std::log(ratio->median)) >= least) continue;
      least = std::abs(std::log(ratio->median));
      best = bytes;
    }
    return best;
  }

  /// Beyond the sizes measured the built-in choice follows, at once where it costs about the same,
  /// else as soon as the model says so.
  std::optional<std::uint64_t> upper_end() const {
    for (std::size_t bytes = row_.back()->bytes; bytes < kFarthest; bytes *= 2) {
      if (!curves_.is_cliff(choices_.back(), bytes, built_in_, bytes + 1)) return bytes;
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> lower_end() const {
    for (std::size_t bytes = row_.front()->bytes; bytes > 1; bytes /= 2) {
      if (!curves_.is_cliff(built_in_, bytes - 1, choices_.front(), bytes)) return bytes;
    }
    return std::nullopt;
  }

  const Row& row_;
  std::vector<const MeasuredCandidate*> won_;
  Curves curves_;
  std::vector<std::string> choices_;
  std::string built_in_;
};

}  // namespace

std::vector<Rule> rules_of(std::span<const MeasuredPoint> points, const MachineFacts& machine) {
  std::vector<Rule> rules;
  for (const Row& row : rows_of(points)) RowRules(row, machine).append(rules);
  return rules;
}

}  // namespace tutti::bench
