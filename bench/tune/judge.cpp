// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "tutti/tuning.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t kLeastRounds = 8;  ///< of a cycle in a regime

Interval interval_of(const Estimate& estimate, double unit = 1) {
  return {rounded(estimate.median * unit), rounded(estimate.low * unit),
          rounded(estimate.high * unit)};
}

Interval microseconds(const std::vector<double>& seconds) {
  return interval_of(estimate(seconds), 1e6);
}

void add_times(MeasuredPoint& point, const CycleRounds& cycle, const Rounds& reporting,
               std::string_view regime) {
  for (std::size_t i = 0; i < reporting.size(); ++i) {
    if (reporting[i].empty()) continue;
    point.candidates[i].times.push_back({cycle.cycle, microseconds(reporting[i])});
  }
  const Rounds mpi = half_of(rounds_in({cycle.mpi}, cycle.line_ns, regime), 1);
  if (!mpi[0].empty()) point.mpi.push_back({cycle.cycle, microseconds(mpi[0])});
}

}  // namespace

double rounded(double value) {
  if (value <= 0) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3);
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                  : std::round(value / unit) * unit;
}

std::optional<MeasuredPoint> judge(std::span<const CycleRounds> cycles,
                                   std::vector<MeasuredCandidate> candidates,
                                   std::string_view regime, std::size_t reference) {
  MeasuredPoint point;
  point.builtin = candidates[reference].choice;
  point.candidates = std::move(candidates);
  std::vector<Rounds> choosing;
  std::vector<Rounds> reporting;
  std::vector<double> line_ns;
  for (const CycleRounds& cycle : cycles) {
    const Rounds kept = rounds_in(cycle.rounds, cycle.line_ns, regime);
    std::size_t rounds = 0;
    for (const std::vector<double>& each : kept) rounds = std::max(rounds, each.size());
    if (rounds < kLeastRounds) return std::nullopt;
    point.rounds = choosing.empty() ? rounds : std::min<std::uint64_t>(point.rounds, rounds);
    point.dropped += static_cast<std::uint64_t>(cycle.dropped);
    choosing.push_back(half_of(kept, 0));
    reporting.push_back(half_of(kept, 1));
    const Rounds lines = rounds_in({cycle.line_ns}, cycle.line_ns, regime);
    line_ns.insert(line_ns.end(), lines[0].begin(), lines[0].end());
    add_times(point, cycle, reporting.back(), regime);
  }
  if (choosing.empty()) return std::nullopt;
  point.line_ns = rounded(estimate(line_ns).median);
  const std::vector<double> regret = regrets(choosing);
  for (std::size_t i = 0; i < regret.size(); ++i) {
    if (regret[i] == 0) continue;
    point.candidates[i].regret = rounded(regret[i]);
    const auto gain = ratio_over_cycles(reporting, reference, i);
    if (gain) point.candidates[i].vs_builtin = interval_of(*gain);
  }
  return point;
}

}  // namespace tutti::bench
