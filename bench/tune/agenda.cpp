// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/agenda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/tune/choosing.hpp"

namespace tutti::bench {
namespace {

constexpr double kGridShare = 0.85;     ///< of the budget; the rest refines crossovers
constexpr double kMeasuredShare = 0.7;  ///< of a point's time; the rest is trials and screening
constexpr double kMostSeconds = 6;

bool is_same(const Cell& a, const Cell& b) {
  return a.collective == b.collective && a.dtype == b.dtype && a.op == b.op &&
         a.placement == b.placement && a.contract == b.contract && a.bytes == b.bytes;
}

}  // namespace

Agenda::Agenda(const SweepPlan& plan, std::function<Problem(const Cell&)> problem,
               const std::vector<MeasuredPoint>& points)
    : plan_(plan),
      problem_(std::move(problem)),
      points_(points),
      grid_(grid_cells(plan, problem_(Cell{}).pes)),
      to_do_(grid_),
      least_seconds_(least_seconds(plan.cycles)) {
  std::erase_if(to_do_, [&](const Cell& cell) { return is_known(cell); });
  first_pass_ = to_do_.size();
}

std::optional<Agenda::Step> Agenda::next(double left_seconds) {
  if (left_seconds < least_seconds_) return std::nullopt;
  Step step;
  if (!grid_complete()) {
    const double share = (left_seconds - (1 - kGridShare) * plan_.budget_seconds) /
                         static_cast<double>(to_do_.size() - measured_);
    step.cell = to_do_[measured_];
    step.seconds = std::max(std::min(kMeasuredShare * share, kMostSeconds), least_seconds_);
    last_seconds_ = step.seconds;
  } else {
    step.seconds = std::max(last_seconds_, least_seconds_);
    std::optional<Cell> more = next_gap();
    if (!more) more = next_crossover();
    if (!more || left_seconds < step.seconds) return std::nullopt;
    step.cell = *more;
  }
  step.neighbours = neighbours_of(step.cell);
  return step;
}

void Agenda::done(const Cell& cell, bool gave_points) {
  if (grid_complete()) {
    more_.push_back(cell);
    return;
  }
  ++measured_;
  if (!gave_points && measured_ <= first_pass_) to_do_.push_back(cell);
}

std::string Agenda::progress() const {
  if (!more_.empty()) return fmt::format("more {:>5}", more_.size());
  return fmt::format("{:>4} of {:>3}", measured_, to_do_.size());
}

/// All but the size and the regime.
bool Agenda::is_about(const MeasuredPoint& point, const Cell& cell) const {
  const Problem problem = problem_(cell);
  return point.collective == problem.collective && point.pes == problem.pes &&
         point.dtype == problem.dtype && point.op == problem.op && point.memory == problem.memory &&
         point.contract == problem.contract;
}

/// Whether there is a point of the cell: in this regime, or in any if it is "".
bool Agenda::is_known(const Cell& cell, std::string_view regime) const {
  const std::size_t bytes = bytes_of(problem_(cell));
  return std::ranges::any_of(points_, [&](const MeasuredPoint& point) {
    return is_about(point, cell) && point.bytes == bytes && !ended_sweep(point) &&
           (regime.empty() || regime == regime_at(point.line_ns));
  });
}

/// After the grid; in another regime than it was meant for, perhaps.
bool Agenda::was_tried(const Cell& cell) const {
  return std::ranges::any_of(more_, [&](const Cell& other) { return is_same(cell, other); });
}

/// As far as the last point says.
std::string_view Agenda::present_regime() const {
  return points_.empty() ? std::string_view() : regime_at(points_.back().line_ns);
}

std::optional<Cell> Agenda::next_gap() const {
  for (const Cell& cell : grid_) {
    if (!is_known(cell, present_regime()) && !was_tried(cell)) return cell;
  }
  return std::nullopt;
}

std::optional<Cell> Agenda::next_crossover() const {
  std::vector<Row> rows = rows_of(points_);
  std::erase_if(rows, [&](const Row& row) {
    return !is_about(*row[0], cell_like(*row[0], row[0]->bytes)) ||
           regime_at(row[0]->line_ns) != present_regime();
  });
  for (const Crossover& crossover : crossovers(rows)) {
    const Cell cell = cell_like(*crossover.low, crossover.bytes);
    if (!was_tried(cell)) return cell;
  }
  return std::nullopt;
}

std::vector<std::string> Agenda::neighbours_of(const Cell& cell) const {
  const Problem problem = problem_(cell);
  const MeasuredCandidate* below = nullptr;
  const MeasuredCandidate* above = nullptr;
  for (const Row& row : rows_of(points_)) {
    if (!is_about(*row[0], cell) || regime_at(row[0]->line_ns) != present_regime()) continue;
    const std::vector<const MeasuredCandidate*> won = winners(row);
    for (std::size_t i = 0; i < row.size() && above == nullptr; ++i) {
      (row[i]->bytes <= cell.bytes ? below : above) = won[i];
    }
  }
  std::vector<std::string> names;
  for (const MeasuredCandidate* winner : {below, above}) {
    if (winner == nullptr) continue;
    const Forced choice = parse_choice(cell.collective, winner->choice, "sweep");
    if (choice.algorithm->supports(problem) == nullptr) names.push_back(winner->choice);
  }
  return names;
}

}  // namespace tutti::bench
