// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/measure_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "bench/baseline.hpp"
#include "bench/tune/blame.hpp"
#include "bench/tune/candidates.hpp"
#include "bench/tune/choosing.hpp"
#include "bench/tune/grid.hpp"
#include "bench/tune/judge.hpp"
#include "bench/tune/try_candidates.hpp"

namespace tutti::bench {
namespace {

using Status = MeasuredCandidate::Status;

constexpr std::size_t kFinalists = 4;
constexpr int kScreeningRounds = 3;
constexpr double kLookShare = 0.25;  ///< of a point's time, for the first look at all candidates
constexpr double kLookCalls = 12;    ///< of a candidate in it, in each of two cycles
constexpr int kMostRounds = 201;
constexpr int kLeastAtAll = 16;
/// A regime, and a line transfer in it, for the built-in choice there.
struct Regime {
  std::string_view name;
  int line_ns;
};
constexpr std::array<Regime, 4> kRegimes = {
    {{"near", 40}, {"mid", 100}, {"far", 200}, {"unknown", 0}}};

std::string canonical(Collective collective, const std::string& choice,
                      std::span<const Algorithm* const> extra) {
  const Forced parsed = parse_choice(collective, choice, "candidate", extra);
  return describe(*parsed.algorithm, parsed.params);
}

/// A point in the making: its candidates, and the team that they run on.
class PointRun {
 public:
  PointRun(Team& team, const Cell& cell, const PointEffort& effort)
      : parent_(team), team_(team.split(0, team.pe())), cell_(cell), effort_(effort) {
    std::vector<std::string> choices = effort.choices;
    if (choices.empty()) choices = bench::candidates(problem_of(cell, team, 0));
    for (const std::string& choice : choices) add(choice);
    std::vector<std::string> needed = effort.always;
    for (const Regime& regime : kRegimes) needed.push_back(reference(regime));
    for (const std::string& choice : needed) needed_.push_back(add(choice));
    leave_out_hung();
  }

  void try_apart() {
    const std::vector<std::size_t> who = running();
    std::vector<std::string> choices;
    for (const std::size_t i : who) choices.push_back(candidates_[i].choice);
    const std::vector<Trial> trials =
        try_candidates(parent_, cell_, choices, effort_.trial_silence);
    for (std::size_t k = 0; k < who.size(); ++k) {
      const Trial& trial = trials[k];
      const Status status = trial.wrong  ? Status::Wrong
                            : trial.hung ? Status::Hung
                                         : Status::Failed;
      if (!trial.right) give_up(who[k], status, trial.reason);
    }
  }

  /// Leaves only so many candidates as a first look has time for: those with initial parameters
  /// come before their variations.
  void thin_out() {
    std::vector<std::size_t> order = running();
    if (order.size() <= kFinalists) return;
    std::ranges::stable_partition(order, [&](std::size_t i) {
      return is_needed(i) || candidates_[i].choice.find(':') == std::string::npos;
    });
    const double call_seconds = look_at({order.front()});
    const double most = kLookShare * effort_.seconds / (kLookCalls * call_seconds);
    for (std::size_t k = kFinalists; k < order.size(); ++k) {
      if (static_cast<double>(k) < most || is_needed(order[k])) continue;
      candidates_[order[k]].status = Status::Skipped;
      candidates_[order[k]].reason = "no time left in the budget for a first look";
    }
  }

  /// Leaves only the best few and the built-in choices.
  void screen() {
    if (running().size() <= kFinalists) return;
    std::vector<Rounds> looks;
    const std::size_t cycles = std::min<std::size_t>(2, effort_.cycles.size());
    for (std::size_t c = 0; c < cycles; ++c) {
      const auto look = measure_cycle(effort_.cycles[c], {.rounds = kScreeningRounds,
                                                          .block_ms = 0.5,
                                                          .seconds = 0.2 * effort_.seconds,
                                                          .least = kScreeningRounds,
                                                          .interrupted = effort_.interrupted});
      looks.push_back(look.rounds);
    }
    const std::vector<double> regret = regrets(looks);
    std::vector<std::size_t> order = running();
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return regret[i]; });
    for (std::size_t k = kFinalists; k < order.size(); ++k) {
      const std::size_t i = order[k];
      if (is_needed(i)) continue;
      candidates_[i].status = Status::Skipped;
      candidates_[i].regret = regret[i];
      candidates_[i].reason = fmt::format("{:.2f} x the best in a first look of {} rounds",
                                          regret[i], kScreeningRounds);
    }
  }

  /// As PE 0 says. Who is told to end by mpirun has a second or two.
  bool interrupted() {
    return first(parent_, effort_.interrupted != nullptr && *effort_.interrupted ? 1 : 0) != 0;
  }

  void measure_all() {
    const double share_seconds = effort_.seconds / shares_of(effort_.cycles);
    for (const Cycle cycle : effort_.cycles) {
      if (interrupted()) return;
      const double seconds = share_seconds * share_of(cycle);
      cycles_.push_back(measure_cycle(cycle, {.rounds = kMostRounds,
                                              .block_ms = 0.6,
                                              .seconds = seconds,
                                              .least = kLeastAtAll,
                                              .interrupted = effort_.interrupted}));
    }
    for (CycleRounds& cycle : cycles_) {
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (candidates_[i].status != Status::Measured) cycle.rounds[i].clear();
      }
    }
  }

  std::vector<MeasuredPoint> points() const {
    std::vector<MeasuredPoint> all;
    for (const Regime& regime : kRegimes) {
      if (auto point = point_in(regime)) all.push_back(std::move(*point));
    }
    return all;
  }

 private:
  /// Adds a candidate if it is new, and returns its full name.
  std::string add(const std::string& choice) {
    std::string full = canonical(cell_.collective, choice, effort_.extra_algorithms);
    if (std::ranges::find(canonical_, full) == canonical_.end()) {
      canonical_.push_back(full);
      candidates_.push_back({choice, Status::Measured, {}, 0, {}, {}});
    }
    return full;
  }

  void leave_out_hung() {
    const std::string mine = std::string(name_of(cell_.collective)) + "=";
    for (const std::string& hung : effort_.hung_choices) {
      if (!hung.starts_with(mine)) continue;
      const std::string full =
          canonical(cell_.collective, hung.substr(mine.size()), effort_.extra_algorithms);
      const auto found = std::ranges::find(canonical_, full);
      if (found == canonical_.end()) continue;
      give_up(static_cast<std::size_t>(found - canonical_.begin()), Status::Hung,
              "it ended a sweep before and was not run again");
    }
  }

  /// What `vs_builtin` compares with: the built-in rules' choice, whatever files and variables say,
  /// or the one that was asked for.
  std::string reference(const Regime& regime) const {
    if (effort_.reference) return effort_.reference(regime.line_ns);
    const Explanation said = explain(problem_of(cell_, parent_, regime.line_ns), Tuning{});
    return describe(*said.algorithm, said.params);
  }

  std::vector<std::size_t> running() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].status == Status::Measured) all.push_back(i);
    }
    return all;
  }

  /// A built-in choice, or one that was asked for.
  bool is_needed(std::size_t i) const {
    return std::ranges::find(needed_, canonical_[i]) != needed_.end();
  }

  void give_up(std::size_t i, Status status, const std::string& reason) {
    candidates_[i].status = status;
    candidates_[i].reason = reason.empty() ? "no reason known" : reason;
  }

  /// Seconds of a call of one of these.
  double look_at(std::vector<std::size_t> who) {
    std::vector<std::size_t> others;
    for (const std::size_t i : running()) {
      if (std::ranges::find(who, i) == who.end()) others.push_back(i);
    }
    for (const std::size_t i : others) candidates_[i].status = Status::Skipped;
    const CycleRounds look = measure_cycle(
        effort_.cycles.front(),
        {.rounds = kScreeningRounds, .block_ms = 0.2, .seconds = 1, .least = kScreeningRounds});
    for (const std::size_t i : others) candidates_[i].status = Status::Measured;
    return std::max(1e-7, estimate(look.rounds[who.front()]).median);
  }

  /// Measures those that are still running; whoever fails is given up, and the rest starts again on
  /// a new team.
  CycleRounds measure_cycle(Cycle cycle, const Effort& effort) {
    for (;;) {
      const std::vector<std::size_t> who = running();
      CycleRounds result;
      result.cycle = cycle;
      result.rounds.resize(candidates_.size());
      if (who.empty()) return result;
      std::optional<ContenderFailed> failure;
      std::optional<Measurement> measured;
      try {
        measured = measure_contenders(who, cycle, effort);
      } catch (const ContenderFailed& error) {
        failure = error;
      } catch (const Error& error) {
        // Between two contenders; what is agreed, as too little memory, is nobody's fault.
        if (error.code() != ErrorCode::Poisoned && error.code() != ErrorCode::PeerFailed) throw;
        failure.emplace(0, error);
      }
      const auto blame = agreed_blame(parent_, failure);
      if (effort_.watchdog != nullptr) effort_.watchdog->rests();
      if (blame) {
        // The last one is MPI, which cannot be left behind.
        if (blame->contender >= who.size()) throw Error(ErrorCode::System, blame->reason);
        give_up(who[blame->contender], blame->hung ? Status::Hung : Status::Failed, blame->reason);
        team_ = parent_.split(0, parent_.pe());
        continue;
      }
      for (std::size_t k = 0; k < who.size(); ++k) {
        result.rounds[who[k]] = measured->seconds[k];
        if (measured->wrong[k] != 0) {
          give_up(who[k], Status::Wrong, fmt::format("{} elements", measured->wrong[k]));
          result.rounds[who[k]].clear();
        }
      }
      if (measured->seconds.size() > who.size()) result.mpi = measured->seconds.back();
      result.line_ns = measured->line_ns;
      result.dropped = measured->dropped;
      return result;
    }
  }

  Measurement measure_contenders(const std::vector<std::size_t>& who, Cycle cycle,
                                 const Effort& effort) {
    Cell cell = cell_;
    cell.cycle = cycle;
    const Workload work(team_, cell);
    std::vector<Contender> contenders;
    for (const std::size_t i : who) {
      contenders.push_back(
          tutti_call(team_, candidates_[i].choice, cell.contract, effort_.call_deadline));
    }
    const bool finals = effort.rounds > kScreeningRounds;
    if (finals && cycle == effort_.cycles.front()) {
      if (auto mpi = mpi_baseline(team_, work)) contenders.push_back(std::move(*mpi));
    }
    if (Watchdog* watchdog = effort_.watchdog) {
      for (Contender& contender : contenders) contender.begins = [watchdog] { watchdog->rests(); };
      for (std::size_t k = 0; k < who.size(); ++k) {
        contenders[k].begins = [this, watchdog, i = who[k]] {
          watchdog->begins(cell_, candidates_[i].choice);
        };
      }
    }
    return measure(team_, work, contenders, effort);
  }

  std::optional<MeasuredPoint> point_in(const Regime& regime) const {
    const std::string compared =
        canonical(cell_.collective, reference(regime), effort_.extra_algorithms);
    const auto with = std::ranges::find(canonical_, compared) - canonical_.begin();
    auto point = judge(cycles_, candidates_, regime.name, static_cast<std::size_t>(with));
    if (!point) return std::nullopt;
    set_problem(*point, problem_of(cell_, parent_, 0));
    point->bound_us = rounded(bound_seconds(cell_, parent_, effort_.speed, point->line_ns) * 1e6);
    return point;
  }

  Team& parent_;
  Team team_;  ///< a copy of the parent, given up when a candidate poisons it
  Cell cell_;
  const PointEffort& effort_;
  std::vector<MeasuredCandidate> candidates_;
  std::vector<std::string> canonical_;  ///< with all parameters
  std::vector<std::string> needed_;     ///< of those
  std::vector<CycleRounds> cycles_;
};

}  // namespace

std::vector<MeasuredPoint> measure_point(Team& team, const Cell& cell, const PointEffort& effort) {
  PointRun run(team, cell, effort);
  run.thin_out();
  if (effort.try_apart && !run.interrupted()) run.try_apart();
  if (!run.interrupted()) run.screen();
  run.measure_all();
  return run.interrupted() ? std::vector<MeasuredPoint>() : run.points();
}

}  // namespace tutti::bench
