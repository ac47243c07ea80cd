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
#include "bench/tune/agenda.hpp"
#include "bench/tune/choosing.hpp"
#include "bench/tune/measure_point.hpp"

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;

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

/// PE 0's side: what was found, and what comes next.
class Leader {
 public:
  Leader(const SweepPlan& plan, const SweepControl& control, Tuning& found, const Team& team)
      : plan_(plan),
        control_(control),
        found_(found),
        team_(team),
        agenda_(
            plan, [&team](const Cell& cell) { return problem_of(cell, team, 0); }, found.points) {}

  Job next() {
    const auto step = interrupted() ? std::nullopt : agenda_.next(left());
    Job job;
    job.stop = !step;
    if (job.stop) return job;
    job.cell = step->cell;
    job.seconds = step->seconds;
    for (std::size_t i = 0; i < std::min(job.neighbours.size(), step->neighbours.size()); ++i) {
      job.neighbours[i] = text_of(step->neighbours[i]);
    }
    return job;
  }

  void add(const Cell& cell, std::vector<MeasuredPoint> points) {
    if (interrupted()) return;  // cut short
    agenda_.done(cell, !points.empty());
    show(cell, points);
    for (MeasuredPoint& point : points) found_.points.push_back(std::move(point));
    if (Clock::now() - saved_ > kBetweenSaves) save();
  }

  /// By the watchdog, while PE 0 is stuck in a measurement.
  void add(const Hang& hang) {
    // In front: the last point tells the present regime.
    found_.points.insert(found_.points.begin(), point_of(hang, problem_of(hang.cell, team_, 0)));
    save();
    fmt::print(stderr,
               "tutti-tune: it is marked as hung in the file; go on without it: --resume\n");
  }

  void save() {
    found_.rules = rules_of(found_.points, found_.machine);
    SweepFacts& facts = *found_.sweep;
    facts.used_s = std::round(10 * used()) / 10;
    facts.complete = agenda_.grid_complete();
    if (control_.save) control_.save(found_);
    saved_ = Clock::now();
  }

  bool grid_complete() const { return agenda_.grid_complete(); }

 private:
  double used() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double left() const { return std::max(0.0, plan_.budget_seconds - used()); }
  bool interrupted() const { return control_.interrupted != nullptr && *control_.interrupted; }

  void show(const Cell& cell, const std::vector<MeasuredPoint>& points) const {
    fmt::print(stderr, "[{}, {:>4.0f} s left]  {:<14} {:<4} {:<9} {:>9} B  {}\n",
               agenda_.progress(), left(), name_of(cell.collective), name_of(cell.dtype),
               name_of(cell.placement), cell.bytes,
               points.empty() ? "too few steady rounds" : verdict(points.back()));
    for (const MeasuredPoint& point : points) show_failures(point);
  }

  static std::string verdict(const MeasuredPoint& point) {
    const Row row = {&point};
    const MeasuredCandidate* winner = winners(row)[0];
    if (winner == nullptr) return "no candidate was measured";
    const double gain = winner->vs_builtin ? winner->vs_builtin->median : 1;
    const std::string_view regime = regime_at(point.line_ns);
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
  Agenda agenda_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = Clock::now();
};

/// PE 0's list.
std::vector<std::string> agreed(Team& team, const std::vector<std::string>& lines) {
  std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.resize(static_cast<std::size_t>(first(team, static_cast<double>(bytes.size()))));
  if (bytes.empty()) return {};
  broadcast(team, std::span(bytes), 0);
  std::vector<std::string> all(1);
  for (const std::uint8_t byte : bytes) {
    if (byte == '\n') {
      all.emplace_back();
    } else {
      all.back().push_back(static_cast<char>(byte));
    }
  }
  return all;
}

}  // namespace

bool sweep(Team& team, const SweepPlan& plan, const SweepControl& control, Tuning& found) {
  PointEffort effort;
  effort.cycles = plan.cycles;
  effort.speed = measure_speed(team);
  effort.try_apart = control.try_apart;
  effort.interrupted = control.interrupted;
  effort.choices = control.choices;
  effort.extra_algorithms = control.extra_algorithms;
  effort.hung_choices = agreed(team, hung_choices(found.points));
  std::optional<Leader> leader;
  std::optional<Watchdog> watchdog;
  if (team.pe() == 0) {
    leader.emplace(plan, control, found, team);
    watchdog.emplace(control.patience, [&leader](const Hang& hang) { leader->add(hang); });
    effort.watchdog = &*watchdog;
  }
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
