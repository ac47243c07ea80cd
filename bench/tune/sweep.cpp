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
constexpr double kMostSeconds = 6;
constexpr std::chrono::seconds kBetweenSaves{1};

/// A choice as text, in a form that can be sent.
using Text = std::array<char, 256>;

Text text_of(std::string_view choice) {
  Text text{};
  if (choice.size() < text.size()) std::ranges::copy(choice, text.begin());
  return text;
}

/// What PE 0 tells the others to do next.
struct Job {
  bool stop = false;
  Cell cell;
  double seconds = 0;
  std::array<Text, 2> neighbours{};  ///< what won at the sizes below and above; "" = nothing
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

bool is_same(const Cell& a, const Cell& b) {
  return a.collective == b.collective && a.dtype == b.dtype && a.op == b.op &&
         a.placement == b.placement && a.contract == b.contract && a.bytes == b.bytes;
}

/// PE 0's side: what was found, and what comes next.
class Leader {
 public:
  Leader(const SweepPlan& plan, const SweepControl& control, Tuning& found, const Team& team)
      : plan_(plan), control_(control), found_(found), team_(team), grid_(grid_cells(plan)) {
    to_do_ = grid_;
    std::erase_if(to_do_, [&](const Cell& cell) { return is_known(cell); });
    first_pass_ = to_do_.size();
  }

  /// The grid; then what of it the present regime lacks, since the line transfer may have moved
  /// meanwhile; then crossovers.
  Job next() {
    Job job;
    const double left = plan_.budget_seconds - used();
    job.seconds = std::max(last_seconds_, least_seconds_);
    job.stop = left < least_seconds_ || interrupted();
    if (job.stop) return job;
    if (!grid_complete()) {
      const double share = (left - (1 - kGridShare) * plan_.budget_seconds) /
                           static_cast<double>(to_do_.size() - measured_);
      job.cell = to_do_[measured_];
      job.seconds = std::max(std::min(kMeasuredShare * share, kMostSeconds), least_seconds_);
      last_seconds_ = job.seconds;
    } else {
      std::optional<Cell> more = next_gap();
      if (!more) more = next_crossover();
      job.stop = !more || left < job.seconds;
      if (more) job.cell = *more;
    }
    if (!job.stop) job.neighbours = neighbours_of(job.cell);
    return job;
  }

  void add(const Cell& cell, std::vector<MeasuredPoint> points) {
    if (interrupted()) return;  // cut short
    if (grid_complete()) {
      more_.push_back(cell);
    } else {
      ++measured_;
      // The line transfer moved, or others used the CPUs: once more, at the end.
      if (points.empty() && measured_ <= first_pass_) to_do_.push_back(cell);
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

  bool grid_complete() const { return measured_ == to_do_.size(); }

 private:
  double used() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool interrupted() const { return control_.interrupted != nullptr && *control_.interrupted; }

  /// Whether there is a point of the cell: in this regime, or in any if it is "".
  bool is_known(const Cell& cell, std::string_view regime = {}) const {
    return std::ranges::any_of(found_.points, [&](const MeasuredPoint& point) {
      const std::size_t bytes = bytes_of(problem_of(cell, team_, 0));
      return is_about(point, cell, team_.size()) && point.bytes == bytes &&
             (regime.empty() || regime == regime_at(point));
    });
  }

  static std::string_view regime_at(const MeasuredPoint& point) {
    return regime_of(static_cast<int>(std::lround(point.line_ns)));
  }

  /// As far as the last point says.
  std::string_view present_regime() const {
    return found_.points.empty() ? std::string_view() : regime_at(found_.points.back());
  }

  /// Whether it was measured after the grid; in another regime than it was meant for, perhaps.
  bool is_done(const Cell& cell) const {
    return std::ranges::any_of(more_, [&](const Cell& other) { return is_same(cell, other); });
  }

  /// What won at the next sizes below and above, in the present regime: whether it goes on winning
  /// must be seen.
  std::array<Text, 2> neighbours_of(const Cell& cell) const {
    std::array<Text, 2> texts{};
    const Problem problem = problem_of(cell, team_, 0);
    for (const Row& row : rows_of(found_.points)) {
      if (!is_about(*row[0], cell, team_.size()) || regime_at(*row[0]) != present_regime())
        continue;
      const std::vector<const MeasuredCandidate*> won = winners(row);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (won[i] == nullptr) continue;
        const Forced choice = parse_choice(cell.collective, won[i]->choice, "sweep");
        if (choice.algorithm->supports(problem) != nullptr) continue;
        if (row[i]->bytes <= cell.bytes) {
          texts[0] = text_of(won[i]->choice);
        } else {
          texts[1] = text_of(won[i]->choice);
          break;
        }
      }
    }
    return texts;
  }

  std::optional<Cell> next_gap() const {
    for (const Cell& cell : grid_) {
      if (!is_known(cell, present_regime()) && !is_done(cell)) return cell;
    }
    return std::nullopt;
  }

  std::optional<Cell> next_crossover() const {
    std::vector<Row> rows = rows_of(found_.points);
    std::erase_if(rows, [&](const Row& row) {
      return row[0]->pes != team_.size() || regime_at(*row[0]) != present_regime();
    });
    for (const Crossover& crossover : crossovers(rows)) {
      const Cell cell = cell_like(*crossover.low, crossover.bytes);
      if (!is_done(cell)) return cell;
    }
    return std::nullopt;
  }

  void show(const Cell& cell, const std::vector<MeasuredPoint>& points) const {
    const std::string step = grid_complete() && !more_.empty()
                                 ? fmt::format("more {:>5}", more_.size())
                                 : fmt::format("{:>4} of {:>3}", measured_, to_do_.size());
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
    const std::string_view regime = regime_at(point);
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
  std::vector<Cell> to_do_;  ///< of the grid, and again what gave no point
  std::size_t first_pass_ = 0;
  std::size_t measured_ = 0;  ///< of `to_do_`
  std::vector<Cell> more_;    ///< measured after them
  const double least_seconds_ = least_seconds(plan_.cycles);
  double last_seconds_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = Clock::now();
};

}  // namespace

bool sweep(Team& team, const SweepPlan& plan, const SweepControl& control, Tuning& found) {
  PointEffort effort;
  effort.cycles = plan.cycles;
  effort.speed = measure_speed(team);
  effort.try_apart = control.try_apart;
  effort.interrupted = control.interrupted;
  std::optional<Leader> leader;
  if (team.pe() == 0) leader.emplace(plan, control, found, team);
  for (;;) {
    const Job job = agreed(team, leader ? leader->next() : Job{});
    if (job.stop) break;
    effort.seconds = job.seconds;
    effort.always.clear();
    for (const Text& choice : job.neighbours) {
      if (choice[0] != 0) effort.always.emplace_back(choice.data());
    }
    std::vector<MeasuredPoint> points = measure_point(team, job.cell, effort);
    if (leader) leader->add(job.cell, std::move(points));
  }
  if (leader) leader->save();
  return first(team, leader && leader->grid_complete() ? 1 : 0) != 0;
}

}  // namespace tutti::bench
