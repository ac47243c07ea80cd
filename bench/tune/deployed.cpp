// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/deployed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "bench/tune/candidates.hpp"
#include "bench/tune/choosing.hpp"
#include "bench/tune/grid.hpp"
#include "bench/tune/measure_point.hpp"

namespace tutti::bench {
namespace {

constexpr double kMeasuredShare = 0.7;
constexpr double kLeastSeconds = 0.05;

Cell cell_of(const Rule& rule, std::size_t bytes) {
  Cell cell;
  cell.collective = rule.collective;
  cell.dtype = rule.dtype.value_or(DType::F32);
  cell.op = rule.op.value_or(Op::Sum);
  cell.placement = placement_in(rule.memory.value_or(Memory::Private));
  cell.contract = rule.contract.value_or(Contract::Consistent);
  cell.bytes = bytes;
  return cell;
}

PointEffort effort_of(Team& team, const Tuning& file, double seconds) {
  std::vector<Cycle> cycles = {Cycle::Same};
  if (file.sweep && !file.sweep->cycles.empty()) cycles = file.sweep->cycles;
  PointEffort effort;
  effort.seconds = std::max(seconds * kMeasuredShare, kLeastSeconds);
  const std::size_t most = affordable_cycles(cycles.size(), effort.seconds);
  effort.cycles.assign(cycles.begin(), cycles.begin() + static_cast<std::ptrdiff_t>(most));
  effort.try_apart = false;
  effort.speed = measure_speed(team);
  return effort;
}

}  // namespace

std::vector<RuleCheck> verify(Team& team, const Tuning& file, double seconds) {
  const double line_ns = first(team, team.measure_line_ns());
  std::vector<RuleCheck> checks;
  std::size_t to_measure = 0;
  for (const Rule& rule : file.rules) {
    RuleCheck check;
    check.rule = &rule;
    check.bytes = size_to_check(rule);
    if (!rule.pes.contains(static_cast<std::uint64_t>(team.size()))) {
      check.skipped = "another number of PEs";
    } else if (!rule.nodes.contains(1)) {
      check.skipped = "several nodes";
    } else if (!rule.line_ns.contains(static_cast<std::uint64_t>(std::lround(line_ns)))) {
      check.skipped = "another regime";
    } else {
      ++to_measure;
    }
    checks.push_back(std::move(check));
  }
  if (to_measure == 0) return checks;
  PointEffort effort = effort_of(team, file, seconds / static_cast<double>(to_measure));
  for (RuleCheck& check : checks) {
    if (!check.skipped.empty()) continue;
    const std::string choice = describe(*check.rule->algorithm, check.rule->params);
    effort.choices = {choice};
    const auto points = measure_point(team, cell_of(*check.rule, check.bytes), effort);
    check.skipped = "too few steady rounds";
    for (const MeasuredPoint& point : points) {
      if (!check.rule->line_ns.contains(static_cast<std::uint64_t>(std::lround(point.line_ns)))) {
        continue;
      }
      const MeasuredCandidate* measured = find_candidate(point, choice);
      if (measured == nullptr || !measured->vs_builtin) continue;
      check.vs_builtin = *measured->vs_builtin;
      check.skipped.clear();
    }
  }
  return checks;
}

std::vector<HeldOut> held_out_regrets(Team& team, const Tuning& file, double seconds) {
  const std::vector<Cell> cells = held_out_cells(file, team.size());
  std::vector<HeldOut> all;
  if (cells.empty()) return all;
  PointEffort effort = effort_of(team, file, seconds / static_cast<double>(cells.size()));
  const auto chosen = [&](const Problem& problem) {
    const Explanation said = explain(problem, file);
    return describe(*said.algorithm, said.params);
  };
  for (const Cell& cell : cells) {
    effort.choices.clear();
    // First, so that the files' choices are found by these very names.
    constexpr std::array<int, 4> kRegimes = {0, 40, 100, 200};
    for (const int line_ns : kRegimes) {
      effort.choices.push_back(chosen(problem_of(cell, team, line_ns)));
    }
    effort.always = effort.choices.size();
    for (const std::string& each : candidates(problem_of(cell, team, 0))) {
      effort.choices.push_back(each);
    }
    for (MeasuredPoint& point : measure_point(team, cell, effort)) {
      HeldOut held{std::move(point), {}, {}};
      held.choice = chosen(problem_of(held.point));
      const auto loss = loss_of(held.point, held.choice);
      if (!loss || !covers(file, held.point)) continue;
      held.loss = *loss;
      all.push_back(std::move(held));
    }
  }
  return all;
}

}  // namespace tutti::bench
