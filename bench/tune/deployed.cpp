// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/deployed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "bench/tune/choosing.hpp"
#include "bench/tune/grid.hpp"
#include "bench/tune/measure_point.hpp"

namespace tutti::bench {
namespace {

constexpr double kMeasuredShare = 0.7;

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

PointEffort effort_of(Team& team, const Tuning& file) {
  PointEffort effort;
  effort.cycles = {Cycle::Same};
  if (file.sweep && !file.sweep->cycles.empty()) effort.cycles = file.sweep->cycles;
  effort.try_apart = false;
  effort.hung_choices = hung_choices(file.points);
  effort.speed = measure_speed(team);
  return effort;
}

/// Seconds for each of so many points, and how many of them the time is enough for.
struct Share {
  double seconds;
  std::size_t points;
};
Share share_of(double seconds, std::size_t points, const PointEffort& effort) {
  const double least = least_seconds(effort.cycles);
  const double all = kMeasuredShare * seconds;
  const auto most = static_cast<std::size_t>(std::max(1.0, all / least));
  return {std::max(least, all / static_cast<double>(points)), std::min(points, most)};
}

/// The least convincing first.
double gain_of(const RuleCheck& check) {
  const auto& evidence = check.rule->evidence;
  return evidence && evidence->vs_builtin ? *evidence->vs_builtin : 0;
}

void measure_rule(Team& team, RuleCheck& check, PointEffort& effort) {
  const std::string choice = describe(*check.rule->algorithm, check.rule->params);
  effort.choices = {choice};
  check.skipped = "too few steady rounds";
  for (const MeasuredPoint& point :
       measure_point(team, cell_of(*check.rule, check.bytes), effort)) {
    if (!check.rule->line_ns.contains(static_cast<std::uint64_t>(std::lround(point.line_ns)))) {
      check.skipped = "another regime by then";
      continue;
    }
    const MeasuredCandidate* measured = find_candidate(point, choice);
    if (measured == nullptr || !measured->vs_builtin) continue;
    check.vs_builtin = *measured->vs_builtin;
    check.skipped.clear();
  }
}

}  // namespace

std::vector<RuleCheck> verify(Team& team, const Tuning& file, double seconds) {
  const double line_ns = first(team, team.measure_line_ns());
  std::vector<RuleCheck> checks;
  for (const Rule& rule : file.rules) {
    RuleCheck check;
    check.rule = &rule;
    check.bytes = whole_bytes(cell_of(rule, size_to_check(rule)), team.size());
    if (!rule.pes.contains(static_cast<std::uint64_t>(team.size()))) {
      check.skipped = "another number of PEs";
    } else if (!rule.nodes.contains(1)) {
      check.skipped = "several nodes";
    } else if (!rule.line_ns.contains(static_cast<std::uint64_t>(std::lround(line_ns)))) {
      check.skipped = "another regime";
    }
    checks.push_back(std::move(check));
  }
  std::vector<RuleCheck*> to_measure;
  for (RuleCheck& check : checks) {
    if (check.skipped.empty()) to_measure.push_back(&check);
  }
  if (to_measure.empty()) return checks;
  std::ranges::stable_sort(to_measure, {}, [](const RuleCheck* each) { return gain_of(*each); });
  PointEffort effort = effort_of(team, file);
  std::optional<Watchdog> watchdog;
  if (team.pe() == 0) effort.watchdog = &watchdog.emplace(Watchdog::kPatience);
  const Share share = share_of(seconds, to_measure.size(), effort);
  effort.seconds = share.seconds;
  for (std::size_t i = 0; i < to_measure.size(); ++i) {
    RuleCheck& check = *to_measure[i];
    if (i < share.points) {
      measure_rule(team, check, effort);
    } else {
      check.skipped = "no time left";
    }
  }
  return checks;
}

std::vector<HeldOut> held_out_regrets(Team& team, const Tuning& file, double seconds) {
  const std::vector<Cell> cells = held_out_cells(file, team.size());
  std::vector<HeldOut> all;
  if (cells.empty()) return all;
  PointEffort effort = effort_of(team, file);
  std::optional<Watchdog> watchdog;
  if (team.pe() == 0) effort.watchdog = &watchdog.emplace(Watchdog::kPatience);
  const Share share = share_of(seconds, cells.size(), effort);
  effort.seconds = share.seconds;
  for (std::size_t i = 0; i < share.points; ++i) {
    const Cell& cell = cells[i * cells.size() / share.points];  // spread over all of them
    effort.reference = [&](int line_ns) {
      const Explanation said = explain(problem_of(cell, team, line_ns), file);
      return describe(*said.algorithm, said.params);
    };
    for (MeasuredPoint& point : measure_point(team, cell, effort)) {
      const auto loss = loss_of(point);
      if (loss && covers(file, point)) all.push_back({std::move(point), *loss});
    }
  }
  return all;
}

}  // namespace tutti::bench
