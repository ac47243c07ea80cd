// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "bench/tune/commands.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;

void add_sweep(CLI::App& app, Arguments& args) {
  CLI::App* sweep = app.add_subcommand("sweep", "measure this machine and write a tuning file");
  sweep->add_option("--out", args.out, "the file to write")->capture_default_str();
  sweep->add_option("--budget", args.budget, "time to use, as 60s or 5m")->capture_default_str();
  sweep->add_option("--collectives", args.collectives)->capture_default_str();
  sweep->add_option("--types", args.types)->capture_default_str();
  sweep->add_option("--memory", args.memory)->capture_default_str();
  sweep->add_option("--contracts", args.contracts)->capture_default_str();
  sweep->add_option("--pes", args.pe_counts, "team sizes, as 2,4; default: all PEs");
  sweep->add_option("--min", args.smallest, "smallest size, as 8 or 64K")->capture_default_str();
  sweep->add_option("--max", args.largest, "largest size")->capture_default_str();
  sweep
      ->add_option("--cycles", args.cycles,
                   "what happens between calls; the regret over all of them is what counts")
      ->capture_default_str();
  sweep->add_flag("--resume", args.resume, "keep the points that the file has already");
  sweep->add_flag("--no-trials", args.no_trials,
                  "do not try each candidate in a child process first");
}

void add_problem(CLI::App* command, Arguments& args) {
  command->add_option("collective", args.collective)->required();
  command->add_option("--bytes", args.bytes, "nccl-tests' size")->required();
  command->add_option("--pes", args.pes)->check(CLI::Range(1, 65536))->capture_default_str();
  command->add_option("--dtype", args.dtype)->capture_default_str();
  command->add_option("--op", args.op)->capture_default_str();
  command->add_option("--memory", args.kind)->capture_default_str();
  command->add_option("--contract", args.contract)->capture_default_str();
}

void add_measuring(CLI::App& app, Arguments& args) {
  CLI::App* verify = app.add_subcommand("verify", "do the rules of a file still hold here?");
  verify->add_option("file", args.file)->required();
  verify->add_option("--seconds", args.seconds, "time to use; default 5s");
  verify->add_flag("--any-machine", args.any_machine, "another machine is no error");

  CLI::App* regret =
      app.add_subcommand("regret", "how far from the best is a file at sizes it did not measure?");
  regret->add_option("file", args.file)->required();
  regret->add_option("--seconds", args.seconds, "time to use; default 60s");
  regret->add_flag("--any-machine", args.any_machine, "another machine is no error");

  CLI::App* trial = app.add_subcommand("try", "run candidates and check every element of them");
  add_problem(trial, args);
  trial->add_option("candidates", args.choices, "as one_shot:chunk_bytes=64K; default: all");
}

void add_about_files(CLI::App& app, Arguments& args) {
  CLI::App* check = app.add_subcommand("check", "is a file well-formed, and of this machine?");
  check->add_option("file", args.file)->required();
  check->add_flag("--any-machine", args.any_machine, "another machine is no error");

  CLI::App* show = app.add_subcommand("show", "print the rules of a file with their evidence");
  show->add_option("file", args.file)->required();

  CLI::App* explain = app.add_subcommand("explain", "what would run, and why");
  add_problem(explain, args);
  explain->add_option("--nodes", args.nodes)->check(CLI::Range(1, 65536))->capture_default_str();
  explain->add_option("--line-ns", args.line_ns, "the regime; 0 = not known")
      ->check(CLI::Range(0, 100000));
  explain->add_flag("--threads", args.threads, "PEs are threads of one process");
  explain->add_option("--tuning", args.file, "a tuning file; default TUTTI_TUNING");
  explain->add_flag("--any-machine", args.any_machine, "use a file of another machine");
  explain->add_option("--algorithm", args.algorithm,
                      "what the call itself insists on, as two_shot:chunk_bytes=64K");

  CLI::App* diff = app.add_subcommand("diff", "which calls would another file change?");
  diff->add_option("before", args.file)->required();
  diff->add_option("after", args.other_file)->required();

  CLI::App* compare = app.add_subcommand(
      "compare", "do two results (tuning files, or JSON of tutti-bench) differ?");
  compare->add_option("first", args.file)->required();
  compare->add_option("second", args.other_file)->required();

  CLI::App* report = app.add_subcommand(
      "report", "write a page about a tuning file or JSON of tutti-bench, to look at");
  report->add_option("file", args.file)->required();
  report->add_option("-o,--out", args.out, "the page to write")->required();
}

int run_command(const CLI::App& app, const Arguments& args, int argc, char** argv) {
  if (app.got_subcommand("sweep")) return run_sweep(args, argc, argv);
  if (app.got_subcommand("verify")) return run_verify(args, argc, argv);
  if (app.got_subcommand("regret")) return run_regret(args, argc, argv);
  if (app.got_subcommand("try")) return run_try(args);
  if (app.got_subcommand("check")) return run_check(args);
  if (app.got_subcommand("show")) return run_show(args);
  if (app.got_subcommand("diff")) return run_diff(args);
  if (app.got_subcommand("compare")) return run_compare(args);
  if (app.got_subcommand("report")) return run_report(args);
  return run_explain(args);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"tutti-tune: measures which algorithm is best here, and explains what would run"};
  Arguments args;
  app.require_subcommand(1);
  add_sweep(app, args);
  add_measuring(app, args);
  add_about_files(app, args);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run_command(app, args, argc, argv);
  } catch (const std::exception& error) {  // 1 is an answer, and there is none
    fmt::print(stderr, "tutti-tune: {}\n", error.what());
    return 2;
  }
}
