// SPDX-License-Identifier: Apache-2.0
#include "bench/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "bench/candidates.hpp"

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFinalists = 4;
constexpr int kScreeningRounds = 3;
constexpr int kMostRounds = 201;
constexpr int kLeastRounds = 10;

std::vector<Cell> cells_of(const SweepPlan& plan) {
  std::vector<Cell> cells;
  for (const Collective collective : plan.collectives) {
    for (const DType type : plan.types) {
      for (const Placement placement : plan.placements) {
        for (const std::size_t bytes : plan.bytes) {
          Cell cell;
          cell.collective = collective;
          cell.dtype = type;
          cell.placement = placement;
          cell.cycle = plan.cycle;
          cell.bytes = bytes;
          cells.push_back(cell);
        }
      }
    }
  }
  return cells;
}

std::vector<double> half_of(const std::vector<double>& samples, std::size_t first) {
  std::vector<double> half;
  for (std::size_t i = first; i < samples.size(); i += 2) half.push_back(samples[i]);
  return half;
}

/// The best candidates after a short look at all of them; alike on all PEs, since times are.
std::vector<std::string> screened(Team& team, const Workload& work,
                                  const std::vector<std::string>& names) {
  if (names.size() <= kFinalists) return names;
  std::vector<Contender> contenders;
  for (const std::string& name : names) {
    contenders.push_back(tutti_call(team, name, work.cell().contract));
  }
  const Measurement measured =
      measure(team, work, contenders, {.rounds = kScreeningRounds, .block_ms = 0.5});
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (measured.wrong[i] == 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return estimate(measured.seconds[i]).median; });
  std::vector<std::string> best;
  for (const std::size_t i : order) {
    if (best.size() < kFinalists) best.push_back(names[i]);
  }
  return best;
}

Finding judge(Team& team, const Cell& cell, double seconds, double margin) {
  const Workload work(team, cell);
  const Problem problem = problem_of(cell, team, 0);
  const std::vector<std::string> finalists = screened(team, work, candidates(problem));
  std::vector<Contender> contenders = {tutti_call(team, "", cell.contract)};
  for (const std::string& name : finalists) {
    contenders.push_back(tutti_call(team, name, cell.contract));
  }
  const Measurement measured =
      measure(team, work, contenders, {.rounds = kMostRounds, .block_ms = 0.6, .seconds = seconds});

  Finding finding;
  finding.cell = cell;
  finding.line_ns = estimate(measured.line_ns).median;
  std::vector<std::size_t> right;
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    if (measured.wrong[i] == 0) right.push_back(i);
  }
  if (right.empty() || static_cast<int>(measured.line_ns.size()) < kLeastRounds) return finding;
  const auto chosen_time = [&](std::size_t i) {
    return estimate(half_of(measured.seconds[i], 0)).median;
  };
  std::ranges::sort(right, {}, chosen_time);
  const std::size_t winner = right[0];
  if (chosen_time(0) < chosen_time(winner) * (1 + margin)) return finding;

  const std::vector<double> mine = half_of(measured.seconds[winner], 1);
  const Estimate vs_builtin = estimate(ratios(half_of(measured.seconds[0], 1), mine));
  // The other half must confirm it.
  if (vs_builtin.low < 1 || vs_builtin.median < 1 + margin) return finding;
  const Estimate time = estimate(mine);
  finding.winner = finalists[winner - 1];
  finding.evidence.median_us = time.median * 1e6;
  finding.evidence.ci95_us = {time.low * 1e6, time.high * 1e6};
  finding.evidence.rounds = mine.size();
  finding.evidence.vs_builtin = vs_builtin.median;
  if (right.size() > 1) {
    const Estimate ratio = estimate(ratios(half_of(measured.seconds[right[1]], 1), mine));
    const std::string& second = finalists[right[1] - 1];
    finding.evidence.runner_up = second.substr(0, second.find(':'));
    finding.evidence.runner_up_ratio = {{ratio.low, ratio.high}};
  }
  return finding;
}

void show_progress(std::size_t done, std::size_t all, double left, const Finding& finding) {
  const Cell& cell = finding.cell;
  fmt::print(stderr, "[{:>3}/{}] {:>4.0f} s left  {:<14} {:<9} {:>8} B  {}\n", done, all, left,
             name_of(cell.collective), name_of(cell.placement), cell.bytes,
             finding.winner.empty() ? std::string("built-in stays")
                                    : fmt::format("{} ({:.2f} x built-in)", finding.winner,
                                                  finding.evidence.vs_builtin.value_or(1)));
}

}  // namespace

std::vector<Finding> sweep(Team& team, const SweepPlan& plan) {
  const auto start = Clock::now();
  const auto left = [&] {
    const double used = std::chrono::duration<double>(Clock::now() - start).count();
    return first(team, plan.budget_seconds - used);
  };
  const std::vector<Cell> cells = cells_of(plan);
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double share = left() / static_cast<double>(cells.size() - i);
    if (share <= 0) {
      if (team.pe() == 0) {
        fmt::print(stderr, "budget used up: {} of {} cells measured\n", i, cells.size());
      }
      break;
    }
    // Some of a cell's share goes into verification and screening.
    findings.push_back(judge(team, cells[i], 0.7 * share, plan.margin));
    const double remaining = left();
    if (team.pe() == 0) show_progress(i + 1, cells.size(), remaining, findings.back());
  }
  return findings;
}

namespace {

/// A winner holds from halfway (geometrically) to the size before, to halfway to the size after.
std::uint64_t between(std::size_t a, std::size_t b) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
}

bool same_kind(const Cell& a, const Cell& b) {
  return a.collective == b.collective && a.dtype == b.dtype && a.placement == b.placement;
}

Range regime_range(double line_ns) {
  const std::string_view regime = regime_of(static_cast<int>(line_ns));
  if (regime == "near") return {0, 79};
  if (regime == "mid") return {80, 150};
  if (regime == "far") return {151, std::nullopt};
  return {};
}

Rule rule_of(const Finding& finding, const Team& team) {
  const Forced choice = parse_choice(finding.cell.collective, finding.winner, "sweep");
  Rule rule;
  rule.collective = finding.cell.collective;
  rule.pes = {static_cast<std::uint64_t>(team.size()), static_cast<std::uint64_t>(team.size())};
  rule.nodes = {1, 1};
  rule.line_ns = regime_range(finding.line_ns);
  rule.dtype = finding.cell.dtype;
  rule.memory =
      finding.cell.placement == Placement::Symmetric ? Memory::Symmetric : Memory::Private;
  rule.contract = finding.cell.contract;
  rule.algorithm = choice.algorithm;
  rule.params = choice.params;
  rule.evidence = finding.evidence;
  return rule;
}

}  // namespace

std::vector<Rule> rules_of(const std::vector<Finding>& findings, const Team& team) {
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    if (finding.winner.empty()) continue;
    Rule rule = rule_of(finding, team);
    const bool follows = i > 0 && same_kind(findings[i - 1].cell, finding.cell);
    const bool goes_on = i + 1 < findings.size() && same_kind(findings[i + 1].cell, finding.cell);
    rule.bytes.low =
        follows ? between(findings[i - 1].cell.bytes, finding.cell.bytes) + 1 : finding.cell.bytes;
    rule.bytes.high =
        goes_on ? between(finding.cell.bytes, findings[i + 1].cell.bytes) : finding.cell.bytes;
    const bool extends = follows && !rules.empty() && findings[i - 1].winner == finding.winner &&
                         rules.back().line_ns == rule.line_ns;
    if (extends) {
      rules.back().bytes.high = rule.bytes.high;  // evidence stays that of the range's first size
    } else {
      rules.push_back(rule);
    }
  }
  return rules;
}

}  // namespace tutti::bench
