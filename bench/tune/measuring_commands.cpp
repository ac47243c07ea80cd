// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "bench/baseline.hpp"
#include "bench/engine.hpp"
#include "bench/tune/candidates.hpp"
#include "bench/tune/choosing.hpp"
#include "bench/tune/commands.hpp"
#include "bench/tune/deployed.hpp"
#include "bench/tune/sweep.hpp"
#include "bench/tune/try_candidates.hpp"

namespace tutti::bench {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// The first signal ends the sweep in good order, a second one at once.
void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

void need_two_pes(const Team& team, const char* what) {
  if (team.size() >= 2) return;
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{} needs at least 2 PEs: TUTTI_PES=2 or mpirun", what));
}

void need_this_machine(const Arguments& args, const Tuning& file) {
  const auto differing = differences(file, this_machine(), 0);
  if (differing.empty() || args.any_machine) return;
  throw Error(ErrorCode::Tuning, fmt::format("{} was measured on another machine: {}", args.file,
                                             fmt::join(differing, "; ")));
}

MachineFacts measured_machine(Team& team) {
  MachineFacts here = this_machine();
  const MachineSpeed speed = measure_speed(team);
  here.copy_gbps = speed.copy_gbps;
  here.cross_gbps = speed.cross_gbps;
  here.fold_gbps = speed.fold_gbps;
  here.line_ns = team.measure_line_ns();
  here.mpi = mpi_description();
  here.binding = usable_cpus() == 1 ? "one CPU a PE" : "not bound";
  return here;
}

/// What the file holds already, if it can be gone on with.
Tuning resumed(const Arguments& args, const MachineFacts& here) {
  if (!args.resume || !std::filesystem::exists(args.out)) return {};
  Tuning old = read_tuning(args.out);
  std::vector<std::string> reasons = differences(old, here, 0);
  const std::vector<std::string> revised = outdated(old);
  reasons.insert(reasons.end(), revised.begin(), revised.end());
  if (!reasons.empty()) {
    throw Error(ErrorCode::Tuning, fmt::format("--resume: {} was measured on something else: {}",
                                               args.out, fmt::join(reasons, "; ")));
  }
  return old;
}

SweepFacts facts_of(const SweepPlan& plan) {
  SweepFacts facts;
  facts.budget_s = plan.budget_seconds;
  facts.cycles = plan.cycles;
  for (const Collective collective : plan.collectives) {
    for (const Algorithm* algorithm : algorithms(collective)) {
      facts.algorithms.push_back({collective, algorithm->name, algorithm->revision});
    }
  }
  return facts;
}

/// Sweeps teams of the first PEs, one size after the other; the others wait.
bool sweep_team_sizes(Team& team, const Arguments& args, SweepPlan plan,
                      const SweepControl& control, Tuning& found) {
  const std::vector<int> counts = pe_counts_of(args, team.size());
  plan.budget_seconds /= static_cast<double>(counts.size());
  bool complete = true;
  for (const int count : counts) {
    Team part = team.split(team.pe() < count ? 0 : 1, team.pe());
    if (team.pe() < count) complete = sweep(part, plan, control, found) && complete;
    team.barrier();
  }
  return complete;
}

void print_regrets(const std::vector<HeldOut>& all) {
  for (const HeldOut& held : all) {
    const MeasuredPoint& point = held.point;
    fmt::print("{:<14} {:<4} {:<9} {:>9} B  {:<7} {:>6.3f} x the best [{:.2f}, {:.2f}]  {}",
               name_of(point.collective), name_of(point.dtype), name_of(point.memory), point.bytes,
               regime_at(point.line_ns), held.loss.ratio.median, held.loss.ratio.low,
               held.loss.ratio.high, point.builtin);
    if (held.loss.ratio.median > 1.1) {
      fmt::print("  (best: {}; farthest behind in {})", held.loss.best, name_of(held.loss.cycle));
    }
    fmt::print("\n");
  }
}

int print_checks(const std::vector<RuleCheck>& checks) {
  std::size_t worse = 0;
  std::size_t measured = 0;
  for (const RuleCheck& check : checks) {
    const std::string choice = describe(*check.rule->algorithm, check.rule->params);
    const std::string head =
        fmt::format("{:<14} {:>9} B  {}", name_of(check.rule->collective), check.bytes, choice);
    if (!check.skipped.empty()) {
      fmt::print("{}: not measured: {}\n", head, check.skipped);
      continue;
    }
    const Verdict verdict = verdict_of(check.vs_builtin);
    ++measured;
    worse += verdict == Verdict::Worse ? 1 : 0;
    fmt::print("{}: {}, built-in took {:.2f} times as long ({:.2f} to {:.2f})\n", head,
               name_of(verdict), check.vs_builtin.median, check.vs_builtin.low,
               check.vs_builtin.high);
  }
  fmt::print("{} of {} rules measured, {} worse than the built-in choice\n", measured,
             checks.size(), worse);
  return worse == 0 ? 0 : 1;
}

/// A job whose PE 0 decides the exit status.
template <class Body>
int launch_with_status(int argc, char** argv, Body&& body) {
  std::atomic<int> status{0};
  const int launched = launch(argc, argv, [&](Team& team) {
    const int mine = body(team);
    if (team.pe() == 0) status = mine;
  });
  return launched != 0 ? launched : status.load();
}

}  // namespace

int run_sweep(const Arguments& args, int argc, char** argv) {
  return launch(argc, argv, [&](Team& team) {
    const SweepPlan plan = plan_of(args);
    need_two_pes(team, "a sweep");
    end_on_signals();  // of every process: mpirun sends them to all, and PE 0 decides
    const MachineFacts here = measured_machine(team);
    Tuning found;
    if (team.pe() == 0) found = resumed(args, here);
    found.machine = here;
    found.sweep = facts_of(plan);
    SweepControl control;
    control.interrupted = &interrupted;
    control.try_apart = !args.no_trials;
    control.save = [&](const Tuning& tuning) { write_tuning(args.out, tuning); };
    const bool complete = sweep_team_sizes(team, args, plan, control, found);
    if (team.pe() != 0) return;
    found.sweep->complete = complete;
    write_tuning(args.out, found);
    fmt::print("{}: {} rules that beat the built-in choice by 5 % or more, from {} points{}\n",
               args.out, found.rules.size(), found.points.size(),
               complete ? "" : "; not complete: go on with --resume");
  });
}

int run_verify(const Arguments& args, int argc, char** argv) {
  return launch_with_status(argc, argv, [&](Team& team) {
    const Tuning file = read_tuning(args.file);
    const double seconds = seconds_of("--seconds", args.seconds.empty() ? "5s" : args.seconds);
    need_two_pes(team, "verify");
    need_this_machine(args, file);
    const std::vector<RuleCheck> checks = verify(team, file, seconds);
    if (team.pe() != 0) return 0;
    for (const std::string& line : outdated(file)) fmt::print("outdated: {}\n", line);
    return print_checks(checks);
  });
}

int run_regret(const Arguments& args, int argc, char** argv) {
  return launch_with_status(argc, argv, [&](Team& team) {
    const Tuning file = read_tuning(args.file);
    const double seconds = seconds_of("--seconds", args.seconds.empty() ? "60s" : args.seconds);
    need_two_pes(team, "regret");
    need_this_machine(args, file);
    if (held_out_cells(file, team.size()).empty()) {
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{} has no two neighbouring points for {} PEs: nothing lies between",
                              args.file, team.size()));
    }
    const std::vector<HeldOut> all = held_out_regrets(team, file, seconds);
    if (team.pe() != 0) return 0;
    print_regrets(all);
    const RegretSummary summary = summarize(all);
    fmt::print(
        "{} held-out points: {:.0f} % within 10 % of the best, the worst {:.2f} x: {}\n",
        summary.points, 100 * summary.within_10_percent, summary.worst,
        summary.kept ? "as promised" : "not as promised (95 % within 10 %, all within 25 %)");
    return summary.kept ? 0 : 1;
  });
}

int run_try(const Arguments& args) {
  const Cell cell = cell_of(args);
  std::vector<std::string> choices = args.choices;
  Problem problem = problem_of(args);
  problem.shared_address_space = true;  // that of the trials
  if (choices.empty()) choices = candidates(problem);
  for (const std::string& choice : choices) parse_choice(cell.collective, choice, "try");
  if (const std::size_t whole = whole_bytes(cell, args.pes); whole != cell.bytes) {
    fmt::print(stderr, "--bytes {}: tried with {} bytes, whole elements and one a PE at least\n",
               cell.bytes, whole);
  }
  return run_trials(cell, args.pes, choices);
}

}  // namespace tutti::bench
