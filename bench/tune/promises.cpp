// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/promises.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "bench/tune/choosing.hpp"
#include "bench/tune/grid.hpp"

namespace tutti::bench {
namespace {

constexpr std::uint64_t kSmallest = 8;
constexpr std::uint64_t kLargest = std::uint64_t{4} << 20;

double time_in(const MeasuredCandidate& candidate, Cycle cycle) {
  const auto found = std::ranges::find(candidate.times, cycle, &CycleTime::cycle);
  return found == candidate.times.end() ? 0 : found->us.median;
}

}  // namespace

Verdict verdict_of(const Interval& vs_builtin) {
  if (vs_builtin.low > 1) return Verdict::Holds;
  const bool worse = vs_builtin.high < 1 && vs_builtin.median < 1 - kEquivalence;
  return worse ? Verdict::Worse : Verdict::Undecided;
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kNames = {"holds", "no difference shown",
                                                      "worse than the built-in choice"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::size_t size_to_check(const Rule& rule) {
  if (rule.evidence && rule.evidence->bytes != 0) return rule.evidence->bytes;
  const std::uint64_t low = std::max(rule.bytes.low.value_or(kSmallest), kSmallest);
  const std::uint64_t high = std::max(low, rule.bytes.high.value_or(std::max(low, kLargest)));
  return halfway(low, high);
}

bool covers(const Tuning& file, const MeasuredPoint& point) {
  std::vector<MeasuredPoint> with = file.points;
  with.push_back(point);
  const std::vector<Row> rows = rows_of(with);
  return std::ranges::any_of(rows, [&](const Row& row) {
    const bool mine = std::ranges::find(row, &with.back()) != row.end();
    return mine && row.size() > 1;
  });
}

std::vector<Cell> held_out_cells(const Tuning& file, int pes) {
  std::vector<Cell> cells;
  for (const Row& row : rows_of(file.points)) {
    for (std::size_t i = 0; i + 1 < row.size() && row[i]->pes == pes; ++i) {
      const MeasuredPoint& low = *row[i];
      const std::size_t grain = size_of(low.dtype) * static_cast<std::size_t>(pes);
      const Cell cell = cell_like(low, halfway(low.bytes, row[i + 1]->bytes) / grain * grain);
      if (cell.bytes > low.bytes && cell.bytes < row[i + 1]->bytes) cells.push_back(cell);
    }
  }
  return cells;
}

std::optional<Loss> loss_of(const MeasuredPoint& point) {
  const MeasuredCandidate* mine = find_candidate(point, point.builtin);
  const MeasuredCandidate* best = nullptr;
  for (const MeasuredCandidate& candidate : point.candidates) {
    if (!was_measured(candidate) || !candidate.vs_builtin) continue;
    if (best == nullptr || candidate.regret < best->regret) best = &candidate;
  }
  if (mine == nullptr || best == nullptr || !was_measured(*mine)) return std::nullopt;
  Loss loss{*best->vs_builtin, best->choice, Cycle::Same};
  double farthest = 0;
  for (const CycleTime& time : best->times) {
    const double behind = time_in(*mine, time.cycle) / time.us.median;
    if (behind <= farthest) continue;
    farthest = behind;
    loss.cycle = time.cycle;
  }
  return loss;
}

RegretSummary summarize(const std::vector<HeldOut>& all) {
  RegretSummary summary;
  summary.points = all.size();
  std::size_t within = 0;
  for (const HeldOut& held : all) {
    within += held.loss.ratio.median <= 1.10 ? 1 : 0;
    summary.worst = std::max(summary.worst, held.loss.ratio.median);
  }
  if (!all.empty()) {
    summary.within_10_percent = static_cast<double>(within) / static_cast<double>(all.size());
  }
  summary.kept = !all.empty() && summary.within_10_percent >= 0.95 && summary.worst <= 1.25;
  return summary;
}

}  // namespace tutti::bench
