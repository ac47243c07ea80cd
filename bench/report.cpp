// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <fmt/format.h>

#include <iostream>
#include <utility>
#include <vector>

#include "bench/tables.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

/// The engine hands its median over as a counter, in seconds; times of a run are sums over its
/// iterations, of which there is one.
Run corrected(Run run) {
  const auto seconds = run.counters.find("seconds");
  if (seconds != run.counters.end()) {
    run.real_accumulated_time = seconds->second.value;
    run.cpu_accumulated_time = seconds->second.value;
    run.counters.erase(seconds);
  }
  run.iterations = 1;
  run.run_name.iterations.clear();
  run.run_name.time_type.clear();
  run.run_name.min_time.clear();
  return run;
}

std::vector<Run> corrected(const std::vector<Run>& runs) {
  std::vector<Run> all;
  for (const Run& run : runs) all.push_back(corrected(run));
  return all;
}

class Json final : public benchmark::JSONReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    benchmark::JSONReporter::ReportRuns(corrected(runs));
  }
};

class Table final : public benchmark::BenchmarkReporter {
 public:
  explicit Table(std::string header) : header_(std::move(header)) {}

  bool ReportContext(const Context&) override {
    fmt::print("{}\n", header_);
    fmt::print("{:<44} {:>11} {:>20} {:>5} {:>6} {:>20} {:>6} {:>5}  {}\n", "benchmark", "time",
               "95 %", "line", "regime", "MPI / this [95 %]", "bound", "wrong", "ran");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& raw : runs) {
      const Run run = corrected(raw);
      if (run.error_occurred) {
        fmt::print("{:<44} {}\n", run.benchmark_name(), run.error_message);
        continue;
      }
      const auto value = [&](const char* name) {
        const auto at = run.counters.find(name);
        return at == run.counters.end() ? 0.0 : at->second.value;
      };
      const std::string ratio = value("vs_mpi") == 0
                                    ? "-"
                                    : fmt::format("{:.2f} [{:.2f}, {:.2f}]", value("vs_mpi"),
                                                  value("vs_mpi_lo"), value("vs_mpi_hi"));
      const double line = value("line_ns");
      fmt::print("{:<44} {:>11} {:>20} {:>5.0f} {:>6} {:>20} {:>5.0f}% {:>5.0f}  {}\n",
                 run.benchmark_name(), time_text(run.real_accumulated_time),
                 fmt::format("{} {}", time_text(value("time_lo")), time_text(value("time_hi"))),
                 line, regime_of(static_cast<int>(line)), ratio, value("bound_pct"), value("wrong"),
                 run.report_label);
    }
    std::cout.flush();
  }

 private:
  std::string header_;
};

class Markdown final : public benchmark::BenchmarkReporter {
 public:
  explicit Markdown(std::string header) : header_(std::move(header)) {}

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& raw : runs) {
      const Run run = corrected(raw);
      if (run.error_occurred) continue;
      const auto value = [&](const char* name) {
        const auto at = run.counters.find(name);
        return at == run.counters.end() ? 0.0 : at->second.value;
      };
      const std::string of = value("of_f32") > 0 ? "of_f32" : "vs_mpi";
      cells_.push_back({run.benchmark_name(), run.real_accumulated_time, value("line_ns"),
                        value("wrong"), value(of.c_str()), value((of + "_lo").c_str()),
                        value((of + "_hi").c_str())});
      fmt::print(stderr, "{}\n", cells_.back().name);
    }
  }

  void Finalize() override { fmt::print("{}", markdown(header_, cells_)); }

 private:
  std::string header_;
  std::vector<TableCell> cells_;
};

}  // namespace

std::unique_ptr<benchmark::BenchmarkReporter> table_reporter(std::string header) {
  return std::make_unique<Table>(std::move(header));
}
std::unique_ptr<benchmark::BenchmarkReporter> json_reporter() { return std::make_unique<Json>(); }

std::unique_ptr<benchmark::BenchmarkReporter> markdown_reporter(std::string header) {
  return std::make_unique<Markdown>(std::move(header));
}

}  // namespace tutti::bench
