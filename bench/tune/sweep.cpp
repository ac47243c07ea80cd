// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bench/engine.hpp"
#include "bench/tune/choosing.hpp"
#include "bench/tune/grid.hpp"
#include "bench/tune/measure_point.hpp"

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGridShare = 0.85;     ///< of the budget; the rest refines crossovers
constexpr double kMeasuredShare = 0.7;  ///< of a point's time; the rest is trials and screening
constexpr double kLeastSeconds = 0.1;
constexpr double kMostSeconds = 6;
constexpr std::chrono::seconds kBetweenSaves{1};

/// What PE 0 tells the others to do next.
struct Job {
  bool stop = false;
  Cell cell;
  double seconds = 0;
};

Job agreed(Team& team, Job job) {
  std::array<std::uint8_t, sizeof(Job)> bytes;
  std::memcpy(bytes.data(), &job, sizeof job);
  broadcast(team, std::span(bytes), 0);
  std::memcpy(&job, bytes.data(), sizeof job);
  return job;
}

bool is_about(const MeasuredPoint& point, const Cell& cell, int pes) {
  const Memory memory =
      cell.placement == Placement::Symmetric ? Memory::Symmetric : Memory::Private;
  return point.collective == cell.collective && point.pes == pes && point.dtype == cell.dtype &&
         point.op == cell.op && point.memory == memory && point.contract == cell.contract;
}

/// PE 0's side: what was found, and what comes next.
class Leader {
 public:
  Leader(const SweepPlan& plan, const SweepControl& control, Tuning& found, const Team& team)
      : plan_(plan), control_(control), found_(found), team_(team), grid_(grid_cells(plan)) {
    std::erase_if(grid_, [&](const Cell& cell) { return known(cell); });
  }

  Job next() {
    Job job;
    const double left = plan_.budget_seconds - used();
    job.stop = left <= 0 || interrupted();
    if (job.stop) return job;
    if (!grid_complete()) {
      const double share = (left - (1 - kGridShare) * plan_.budget_seconds) /
                           static_cast<double>(grid_.size() - measured_);
      job.cell = grid_[measured_];
      job.seconds = std::clamp(kMeasuredShare * share, kLeastSeconds, kMostSeconds);
      last_seconds_ = job.seconds;
      return job;
    }
    const std::optional<Cell> crossover = next_crossover();
    job.seconds = std::max(last_seconds_, kLeastSeconds);
    job.stop = !crossover || left < job.seconds;
    if (crossover) job.cell = *crossover;
    return job;
  }

  void add(const Cell& cell, std::vector<MeasuredPoint> points) {
    if (interrupted()) return;  // cut short
    if (grid_complete()) {
      refined_.push_back(cell);
    } else {
      ++measured_;
    }
    show(cell, points);
    for (MeasuredPoint& point : points) found_.points.push_back(std::move(point));
    if (Clock::now() - saved_ > kBetweenSaves) save();
  }

  void save() {
    found_.rules = rules_of(found_.points, found_.machine);
    SweepFacts& facts = *found_.sweep;
    facts.used_s = std::round(10 * used()) / 10;
    facts.complete = grid_complete();
    if (control_.save) control_.save(found_);
    saved_ = Clock::now();
  }

  bool grid_complete() const { return measured_ == grid_.size(); }

 private:
  double used() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool interrupted() const { return control_.interrupted != nullptr && *control_.interrupted; }

  bool known(const Cell& cell) const {
    return std::ranges::any_of(found_.points, [&](const MeasuredPoint& point) {
      const std::size_t bytes = bytes_of(problem_of(cell, team_, 0));
      return is_about(point, cell, team_.size()) && point.bytes == bytes;
    });
  }

  std::optional<Cell> next_crossover() const {
    std::vector<Row> rows = rows_of(found_.points);
    std::erase_if(rows, [&](const Row& row) { return row[0]->pes != team_.size(); });
    const auto crossover = best_crossover(rows);
    if (!crossover) return std::nullopt;
    const MeasuredPoint& like = *rows[crossover->row][0];
    const Cell cell = cell_like(like, crossover->bytes);
    const auto same = [&](const Cell& other) {
      return is_about(like, other, like.pes) && other.bytes == cell.bytes;
    };
    // In another regime than the row's, the point may not have appeared.
    if (std::ranges::any_of(refined_, same)) return std::nullopt;
    return cell;
  }

  void show(const Cell& cell, const std::vector<MeasuredPoint>& points) const {
    const std::string step = grid_complete() && !refined_.empty()
                                 ? fmt::format("refine {:>3}", refined_.size())
                                 : fmt::format("{:>4} of {:>3}", measured_, grid_.size());
    const double left = std::max(0.0, plan_.budget_seconds - used());
    fmt::print(stderr, "[{}, {:>4.0f} s left]  {:<14} {:<4} {:<9} {:>9} B  {}\n", step, left,
               name_of(cell.collective), name_of(cell.dtype), name_of(cell.placement), cell.bytes,
               points.empty() ? "too few steady rounds" : verdict(points.back()));
    for (const MeasuredPoint& point : points) show_failures(point);
  }

  static std::string verdict(const MeasuredPoint& point) {
    const Row row = {&point};
    const MeasuredCandidate* winner = winners(row)[0];
    if (winner == nullptr) return "no candidate was measured";
    const double gain = winner->vs_builtin ? winner->vs_builtin->median : 1;
    const std::string_view regime = regime_of(static_cast<int>(std::lround(point.line_ns)));
    if (!deserves_rule(point, *winner)) return fmt::format("{}: built-in stays", regime);
    return fmt::format("{}: {} ({:.2f} x built-in)", regime, winner->choice, gain);
  }

  static void show_failures(const MeasuredPoint& point) {
    for (const MeasuredCandidate& candidate : point.candidates) {
      if (!is_broken(candidate)) continue;
      fmt::print(stderr, "    {} {}: {}\n", candidate.choice, name_of(candidate.status),
                 candidate.reason);
    }
  }

  const SweepPlan& plan_;
  const SweepControl& control_;
  Tuning& found_;
  const Team& team_;
  std::vector<Cell> grid_;
  std::size_t measured_ = 0;
  std::vector<Cell> refined_;
  double last_seconds_ = kLeastSeconds;
  Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = Clock::now();
};

}  // namespace

bool sweep(Team& team, const SweepPlan& plan, const SweepControl& control, Tuning& found) {
  PointEffort effort;
  effort.speed = measure_speed(team);
  effort.try_apart = control.try_apart;
  effort.interrupted = control.interrupted;
  std::optional<Leader> leader;
  if (team.pe() == 0) leader.emplace(plan, control, found, team);
  for (;;) {
    const Job job = agreed(team, leader ? leader->next() : Job{});
    if (job.stop) break;
    effort.seconds = job.seconds;
    const std::size_t cycles = affordable_cycles(plan.cycles.size(), job.seconds);
    effort.cycles.assign(plan.cycles.begin(),
                         plan.cycles.begin() + static_cast<std::ptrdiff_t>(cycles));
    std::vector<MeasuredPoint> points = measure_point(team, job.cell, effort);
    if (leader) leader->add(job.cell, std::move(points));
  }
  if (leader) leader->save();
  return first(team, leader && leader->grid_complete() ? 1 : 0) != 0;
}

}  // namespace tutti::bench
