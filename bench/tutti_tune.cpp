// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/baseline.hpp"
#include "bench/sweep.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;

constexpr double kShortBudget = 40;  ///< seconds; below it sizes are eight times apart, not four

struct Arguments {
  std::string out = "tuning.json";
  std::string budget = "60s";
  std::string collectives = "allreduce,allgather,reduce_scatter";
  std::string types = "f32";
  std::string memory = "private,symmetric";
  std::string smallest = "8";
  std::string largest = "4M";
  std::string cycle = "same";
  std::string file;
  bool any_machine = false;
  std::string collective;
  int pes = 2;
  int nodes = 1;
  int line_ns = 0;
  std::string bytes;
  std::string dtype = "f32";
  std::string op = "sum";
  std::string kind = "private";
  std::string contract = "consistent";
};

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at <= list.size()) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

SweepPlan plan_of(const Arguments& args) {
  SweepPlan plan;
  for (const std::string& name : parts_of(args.collectives)) {
    plan.collectives.push_back(collective_from(name));
  }
  for (const std::string& name : parts_of(args.types)) plan.types.push_back(dtype_from(name));
  for (const std::string& name : parts_of(args.memory)) {
    plan.placements.push_back(memory_from(name) == Memory::Symmetric ? Placement::Symmetric
                                                                     : Placement::Private);
  }
  const std::size_t smallest = parse_size("--min", args.smallest);
  const std::size_t largest = parse_size("--max", args.largest);
  if (smallest == 0 || smallest > largest) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("--min {} --max {}; 1 <= min <= max must hold", args.smallest, args.largest));
  }
  plan.cycle = cycle_from(args.cycle);
  plan.budget_seconds = static_cast<double>(parse_time("--budget", args.budget).count()) / 1000.0;
  const std::size_t factor = plan.budget_seconds < kShortBudget ? 8 : 4;
  for (std::size_t bytes = smallest; bytes <= largest; bytes *= factor) plan.bytes.push_back(bytes);
  if (plan.bytes.back() != largest) plan.bytes.push_back(largest);
  return plan;
}

MachineFacts measured_machine(Team& team) {
  MachineFacts here = this_machine();
  const MachineSpeed speed = measure_speed(team);
  here.copy_gbps = speed.copy_gbps;
  here.line_ns = team.measure_line_ns();
  here.mpi = mpi_description();
  here.binding = usable_cpus() == 1 ? "one CPU a PE" : "not bound";
  return here;
}

int run_sweep(const Arguments& args, int argc, char** argv) {
  return launch(argc, argv, [&](Team& team) {
    const SweepPlan plan = plan_of(args);
    if (team.size() < 2) {
      throw Error(ErrorCode::InvalidArgument,
                  "a sweep needs at least 2 PEs: TUTTI_PES=2 or mpirun");
    }
    const std::vector<Finding> findings = sweep(team, plan);
    Tuning tuning;
    tuning.machine = measured_machine(team);
    tuning.rules = rules_of(findings, team);
    if (team.pe() != 0) return;
    write_tuning(args.out, tuning);
    fmt::print("{}: {} rules that beat the built-in choice by 5 % or more, from {} cells\n",
               args.out, tuning.rules.size(), findings.size());
  });
}

int run_check(const Arguments& args) {
  const Tuning tuning = read_tuning(args.file);
  const auto differing = differences(tuning, this_machine(), 0);
  fmt::print("{}: well-formed, {} rules\n", args.file, tuning.rules.size());
  if (differing.empty()) {
    fmt::print("measured on this machine\n");
    return 0;
  }
  fmt::print("measured on another machine: {}\n", fmt::join(differing, "; "));
  return args.any_machine ? 0 : 1;
}

std::string range_text(const Range& range) {
  return fmt::format("{}..{}", range.low ? std::to_string(*range.low) : "",
                     range.high ? std::to_string(*range.high) : "");
}

int run_show(const Arguments& args) {
  const Tuning tuning = read_tuning(args.file);
  const MachineFacts& machine = tuning.machine;
  fmt::print("measured {} on {} ({} cores), line {:.0f} ns, tutti {}\n", machine.date, machine.cpu,
             machine.cores, machine.line_ns, machine.tutti);
  for (const Rule& rule : tuning.rules) {
    fmt::print("{:<14} pes {:<5} bytes {:<18} line {:<8} {:<10} -> {}", name_of(rule.collective),
               range_text(rule.pes), range_text(rule.bytes), range_text(rule.line_ns),
               rule.memory ? name_of(*rule.memory) : "any memory",
               describe(*rule.algorithm, rule.params));
    if (rule.evidence) {
      fmt::print("  {:.2f} us [{:.2f}, {:.2f}], {:.2f} x built-in", rule.evidence->median_us,
                 rule.evidence->ci95_us[0], rule.evidence->ci95_us[1],
                 rule.evidence->vs_builtin.value_or(1));
    }
    fmt::print("\n");
  }
  return 0;
}

int run_explain(const Arguments& args) {
  Problem problem;
  problem.collective = collective_from(args.collective);
  problem.dtype = dtype_from(args.dtype);
  problem.op = op_from(args.op);
  problem.memory = memory_from(args.kind);
  problem.contract = contract_from(args.contract);
  problem.pes = args.pes;
  problem.nodes = args.nodes;
  problem.line_ns = args.line_ns;
  const bool blocks = has_blocks(problem.collective);
  problem.count = parse_size("--bytes", args.bytes) / size_of(problem.dtype) /
                  (blocks ? static_cast<std::size_t>(args.pes) : 1);
  const char* environment = std::getenv("TUTTI_ALGORITHM");
  const char* named = std::getenv("TUTTI_TUNING");
  const std::string file = !args.file.empty() ? args.file : named != nullptr ? named : "";
  const Tuning tuning = file.empty() ? Tuning{} : read_tuning(file);
  const Explanation said =
      explain(problem, tuning, {.environment = environment == nullptr ? "" : environment});
  fmt::print("{}", to_string(said));
  return 0;
}

void add_commands(CLI::App& app, Arguments& args) {
  app.require_subcommand(1);
  CLI::App* sweep = app.add_subcommand("sweep", "measure this machine and write a tuning file");
  sweep->add_option("--out", args.out, "the file to write")->capture_default_str();
  sweep->add_option("--budget", args.budget, "time to use, as 60s or 5m")->capture_default_str();
  sweep->add_option("--collectives", args.collectives)->capture_default_str();
  sweep->add_option("--types", args.types)->capture_default_str();
  sweep->add_option("--memory", args.memory)->capture_default_str();
  sweep->add_option("--min", args.smallest, "smallest size, as 8 or 64K")->capture_default_str();
  sweep->add_option("--max", args.largest, "largest size")->capture_default_str();
  sweep->add_option("--cycle", args.cycle, "same, rotate, decode or skew")->capture_default_str();

  CLI::App* check = app.add_subcommand("check", "is a file well-formed, and of this machine?");
  check->add_option("file", args.file)->required();
  check->add_flag("--any-machine", args.any_machine, "another machine is no error");

  CLI::App* show = app.add_subcommand("show", "print the rules of a file with their evidence");
  show->add_option("file", args.file)->required();

  CLI::App* explain = app.add_subcommand("explain", "what would run, and why");
  explain->add_option("collective", args.collective)->required();
  explain->add_option("--bytes", args.bytes, "nccl-tests' size")->required();
  explain->add_option("--pes", args.pes)->check(CLI::Range(1, 65536))->capture_default_str();
  explain->add_option("--nodes", args.nodes)->check(CLI::Range(1, 65536))->capture_default_str();
  explain->add_option("--line-ns", args.line_ns, "the regime; 0 = not known")
      ->check(CLI::Range(0, 100000));
  explain->add_option("--dtype", args.dtype)->capture_default_str();
  explain->add_option("--op", args.op)->capture_default_str();
  explain->add_option("--memory", args.kind)->capture_default_str();
  explain->add_option("--contract", args.contract)->capture_default_str();
  explain->add_option("--tuning", args.file, "a tuning file; default TUTTI_TUNING");
}

int run_command(const CLI::App& app, const Arguments& args, int argc, char** argv) {
  if (app.got_subcommand("sweep")) return run_sweep(args, argc, argv);
  if (app.got_subcommand("check")) return run_check(args);
  if (app.got_subcommand("show")) return run_show(args);
  return run_explain(args);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"tutti-tune: measures which algorithm is best here, and explains what would run"};
  Arguments args;
  add_commands(app, args);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run_command(app, args, argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "tutti-tune: {}\n", error.what());
    return error.code() == ErrorCode::InvalidArgument || error.code() == ErrorCode::Tuning ? 2 : 1;
  }
}
