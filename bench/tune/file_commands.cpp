// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/tune/bench_page.hpp"
#include "bench/tune/choosing.hpp"
#include "bench/tune/cliffs.hpp"
#include "bench/tune/commands.hpp"
#include "bench/tune/compare.hpp"
#include "bench/tune/diff.hpp"
#include "bench/tune/files.hpp"
#include "bench/tune/report_page.hpp"
#include "bench/tune/rule_text.hpp"

namespace tutti::bench {
namespace {

void print_not_measured(const Tuning& tuning) {
  for (const MeasuredPoint& point : tuning.points) {
    for (const MeasuredCandidate& candidate : point.candidates) {
      if (!is_broken(candidate)) continue;
      fmt::print("{:<14} {} B: {} {}: {}\n", name_of(point.collective), point.bytes,
                 candidate.choice, name_of(candidate.status), candidate.reason);
    }
  }
}

void print_change(const Change& change) {
  const Problem& problem = change.problem;
  fmt::print("{:<14} {:<4} {:<4} {:<9} {:<10} pes {} nodes {} {:<7} bytes {}..{}\n    {} -> {}\n",
             name_of(problem.collective), name_of(problem.dtype), name_of(problem.op),
             name_of(problem.memory), name_of(problem.contract), problem.pes, problem.nodes,
             regime_of(problem.line_ns), change.low, change.high, change.before, change.after);
  fmt::print("    expected {:.2f} times as fast ({}){}\n", change.gain,
             change.measured ? "measured" : "predicted",
             change.bits_may_change ? "; consistent results may have other bits" : "");
}

/// What --tuning or TUTTI_TUNING names; nothing, as in the library, of another machine.
Tuning file_that_decides(const Arguments& args) {
  const char* named = std::getenv("TUTTI_TUNING");
  const std::string file = !args.file.empty() ? args.file : named != nullptr ? named : "";
  if (file.empty()) return {};
  Tuning tuning = read_tuning(file);
  if (args.any_machine) return tuning;
  const auto differing = differences(tuning, this_machine(), 0);
  if (differing.empty()) return tuning;
  fmt::print("not used    {}, measured on another machine: {}; --any-machine uses it\n", file,
             fmt::join(differing, "; "));
  return {};
}

/// Not the JSON of tutti-bench, whose first key is "context".
bool is_tuning_file(const std::string& text) {
  return text.find("\"benchmarks\"") == std::string::npos;
}

Results results_in(const std::string& path) {
  const std::string text = read_file(path);
  if (is_tuning_file(text)) return results_of(parse_tuning(text, path));
  return results_of_bench(text, path);
}

/// Says what the page is about beside it, not inside it.
void write_page(const std::string& path, const std::string& page, const std::string& about) {
  const bool stream = is_stream(path);
  write_file(path, page);
  fmt::print(stream ? stderr : stdout, "{}: {}\n", path, about);
}

}  // namespace

int run_check(const Arguments& args) {
  const Tuning tuning = read_tuning(args.file);
  const auto differing = differences(tuning, this_machine(), 0);
  fmt::print("{}: well-formed, {} rules, {} points\n", args.file, tuning.rules.size(),
             tuning.points.size());
  for (const std::string& line : outdated(tuning)) fmt::print("outdated: {}\n", line);
  for (const Cliff& cliff : cliffs(tuning)) fmt::print("cliff: {}\n", to_string(cliff));
  if (differing.empty()) {
    fmt::print("measured on this machine\n");
    return 0;
  }
  fmt::print("measured on another machine: {}\n", fmt::join(differing, "; "));
  return args.any_machine ? 0 : 1;
}

int run_show(const Arguments& args) {
  const Tuning tuning = read_tuning(args.file);
  const MachineFacts& machine = tuning.machine;
  if (machine == MachineFacts{}) {
    fmt::print("the file does not say where it was measured\n");
  } else {
    fmt::print("measured{}{} on {} ({} cores), line {:.0f} ns, tutti {}\n",
               machine.date.empty() ? "" : " ", machine.date, machine.cpu, machine.cores,
               machine.line_ns, machine.tutti);
  }
  for (std::size_t i = 0; i < tuning.rules.size(); ++i) {
    fmt::print("rules[{}] {}", i, to_text(tuning.rules[i]));
  }
  print_not_measured(tuning);
  return 0;
}

int run_explain(const Arguments& args) {
  const Problem problem = problem_of(args);
  const char* environment = std::getenv("TUTTI_ALGORITHM");
  const Explanation said =
      explain(problem, file_that_decides(args),
              {.call = args.algorithm, .environment = environment == nullptr ? "" : environment});
  fmt::print("{}", to_string(said));
  return 0;
}

int run_diff(const Arguments& args) {
  const Tuning before = read_tuning(args.file);
  const Tuning after = read_tuning(args.other_file);
  const std::vector<Change> all = changes(before, after);
  for (const Change& change : all) print_change(change);
  fmt::print("{} kinds and ranges of calls change\n", all.size());
  return all.empty() ? 0 : 1;
}

int run_compare(const Arguments& args) {
  const Results first = results_in(args.file);
  const Results second = results_in(args.other_file);
  const std::vector<std::string> apart = not_comparable(first, second);
  for (const std::string& each : apart) fmt::print("not comparable: {}\n", each);
  const std::vector<Comparison> all = compare(first, second);
  if (all.empty()) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{} and {} have no result in common{}", args.file, args.other_file,
                            apart.empty() ? "" : " for the same PEs, regime and cycle"));
  }
  std::size_t different = 0;
  for (const Comparison& each : all) {
    if (!each.differs) continue;
    ++different;
    fmt::print("{} {}: {} takes {:.3f} times as long ({:.3f} to {:.3f})\n", each.name.what,
               each.name.where, args.other_file, each.ratio.median, each.ratio.low,
               each.ratio.high);
  }
  if (different == 0) {
    fmt::print("no difference shown in {} results\n", all.size());
    return 0;
  }
  fmt::print("{} of {} results differ; no difference shown in the others\n", different, all.size());
  return 1;
}

int run_report(const Arguments& args) {
  const std::string title = std::filesystem::path(args.file).filename().string();
  const std::string text = read_file(args.file);
  if (!is_tuning_file(text)) {
    const BenchFile file = read_bench(text, args.file);
    write_page(args.out, bench_page(file, title), fmt::format("{} results", file.rows.size()));
    return 0;
  }
  const Tuning tuning = parse_tuning(text, args.file);
  write_page(args.out, report_page(tuning, title),
             fmt::format("{} points, {} rules", tuning.points.size(), tuning.rules.size()));
  return 0;
}

}  // namespace tutti::bench
