// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "bench/baseline.hpp"
#include "bench/cells.hpp"
#include "bench/engine.hpp"
#include "bench/flags.hpp"
#include "bench/moe_cells.hpp"
#include "bench/report.hpp"
#include "bench/tables.hpp"
#include "tutti/tutti.hpp"

// Google Benchmark is the face: it runs on PE 0 only, since its iteration counts and its shuffling
// differ from process to process. For each benchmark PE 0 sends an order to all PEs, which measure
// the cell together with our own engine; the result becomes the benchmark's time and counters.

namespace {

using namespace tutti;
using namespace tutti::bench;

/// What PE 0 tells the others to measure next.
struct Order {
  bool stop = false;
  bool primitive = false;
  bool moe = false;
  MoeCell moe_cell;
  Cell cell;
  Primitive what = Primitive::Barrier;
  std::array<char, 96> algorithm{};
};

Order exchange(Team& team, Order order) {
  static_assert(std::is_trivially_copyable_v<Order>);
  std::array<std::uint8_t, sizeof(Order)> bytes;
  std::memcpy(bytes.data(), &order, sizeof order);
  broadcast(team, bytes, 0, {.algorithm = "flat"});
  std::memcpy(&order, bytes.data(), sizeof order);
  return order;
}

/// What all PEs do for one order; the result matters on PE 0.
struct Outcome {
  Estimate time;
  Estimate vs_mpi;
  Estimate mpi;
  Estimate of_f32;
  double touch = 0;
  double line_ns = 0;
  double bound = 0;
  double wrong = 0;
  int dropped = 0;
  std::string ran;
};

/// The same call on as many elements of f32, for reductions of 16-bit floats; nothing elsewhere.
std::optional<Contender> in_f32(Team& team, const Order& order) {
  const Cell& cell = order.cell;
  const bool half = cell.dtype == DType::BF16 || cell.dtype == DType::F16;
  if (!half || !reduces(cell.collective)) return std::nullopt;
  Cell wide = cell;
  wide.dtype = DType::F32;
  wide.bytes = cell.bytes / size_of(cell.dtype) * size_of(wide.dtype);
  const std::string algorithm = order.algorithm.data();
  if (!algorithm.empty()) {
    const Forced forced = parse_choice(cell.collective, algorithm, "benchmark");
    if (forced.algorithm->supports(problem_of(wide, team, 0)) != nullptr) return std::nullopt;
  }
  Contender contender = tutti_call(team, algorithm, cell.contract);
  contender.own = std::make_shared<const Workload>(team, wide);
  return contender;
}

Outcome measure_cell(Team& team, const Order& order, const Effort& effort,
                     const MachineSpeed& speed) {
  const Workload work(team, order.cell);
  std::vector<Contender> contenders = {
      touch_only(), tutti_call(team, order.algorithm.data(), order.cell.contract)};
  const auto mpi = mpi_baseline(team, work);
  if (mpi) contenders.push_back(*mpi);
  const auto f32 = in_f32(team, order);
  if (f32) contenders.push_back(*f32);
  const Measurement measured = measure(team, work, contenders, effort);
  Outcome outcome;
  outcome.time = estimate(measured.seconds[1]);
  outcome.touch = estimate(measured.seconds[0]).median;
  if (f32) outcome.of_f32 = estimate(ratios(measured.seconds[1], measured.seconds.back()));
  if (mpi) {
    outcome.mpi = estimate(measured.seconds[2]);
    outcome.vs_mpi = estimate(ratios(measured.seconds[2], measured.seconds[1]));
  }
  outcome.line_ns = estimate(measured.line_ns).median;
  outcome.bound = bound_seconds(order.cell, team, speed, outcome.line_ns);
  outcome.wrong = static_cast<double>(measured.wrong[1]);
  outcome.dropped = measured.dropped;
  // The team's own small calls ran since; ask what this problem's call runs.
  outcome.ran = chosen(team, order.cell, order.algorithm.data());
  return outcome;
}

Outcome measure_primitive(Team& team, const Order& order, const Effort& effort) {
  const PrimitiveResult measured = order.moe
                                       ? measure_moe(team, order.moe_cell, effort.rounds)
                                       : measure(team, order.what, order.cell.bytes, effort.rounds);
  Outcome outcome;
  outcome.time = measured.time;
  outcome.vs_mpi = measured.vs_other;
  outcome.mpi = measured.other;
  outcome.line_ns = measured.line_ns;
  outcome.bound = measured.line_ns * 1e-9;
  outcome.wrong = static_cast<double>(measured.wrong);
  outcome.ran = measured.compared_with;
  return outcome;
}

Outcome obey(Team& team, const Order& order, const Effort& effort, const MachineSpeed& speed) {
  return order.primitive || order.moe ? measure_primitive(team, order, effort)
                                      : measure_cell(team, order, effort, speed);
}

void report(benchmark::State& state, const Cell& cell, int pes, const Outcome& outcome) {
  auto& counters = state.counters;
  const double seconds = outcome.time.median;
  counters["seconds"] = seconds;
  counters["time_lo"] = outcome.time.low;
  counters["time_hi"] = outcome.time.high;
  counters["line_ns"] = outcome.line_ns;
  counters["touch_us"] = outcome.touch * 1e6;
  counters["wrong"] = outcome.wrong;
  counters["dropped"] = outcome.dropped;
  if (outcome.of_f32.median > 0) {
    counters["of_f32"] = outcome.of_f32.median;
    counters["of_f32_lo"] = outcome.of_f32.low;
    counters["of_f32_hi"] = outcome.of_f32.high;
  }
  if (outcome.mpi.median > 0) {
    counters["mpi_us"] = outcome.mpi.median * 1e6;
    counters["vs_mpi"] = outcome.vs_mpi.median;
    counters["vs_mpi_lo"] = outcome.vs_mpi.low;
    counters["vs_mpi_hi"] = outcome.vs_mpi.high;
    const double net = seconds - outcome.touch;
    if (net > 0) counters["vs_mpi_net"] = (outcome.mpi.median - outcome.touch) / net;
  }
  if (seconds > 0) {
    counters["algbw"] = static_cast<double>(cell.bytes) / seconds / 1e9;
    counters["busbw"] =
        static_cast<double>(cell.bytes) / seconds / 1e9 * bus_factor(cell.collective, pes);
    counters["bound_pct"] = 100 * outcome.bound / seconds;
  }
  state.SetLabel(outcome.ran);
}

void serve(Team& team, const Flags& flags, const MachineSpeed& speed) {
  for (;;) {
    const Order order = exchange(team, {});
    if (order.stop) return;
    obey(team, order, flags.effort, speed);
  }
}

void add_benchmarks(Team& team, const Flags& flags, const MachineSpeed& speed) {
  const auto add = [&](const std::string& name, const Order& order) {
    const auto known = std::make_shared<std::optional<Outcome>>();
    benchmark::RegisterBenchmark(
        name.c_str(), [&team, &flags, &speed, order, known](benchmark::State& state) {
          // It may run this as often as it likes: the cell is measured once, by our own engine.
          if (!*known) *known = obey(team, exchange(team, order), flags.effort, speed);
          for (auto _ : state) {
          }
          report(state, order.cell, team.size(), **known);
        });
  };
  for (const NamedCell& named : all_cells(team, flags.cycle)) {
    Order order;
    order.cell = named.cell;
    named.algorithm.copy(order.algorithm.data(), order.algorithm.size() - 1);
    add(named.name, order);
  }
  for (const NamedMoeCell& named : all_moe_cells()) {
    Order order;
    order.moe = true;
    order.moe_cell = named.cell;
    add(named.name, order);
  }
  for (const NamedPrimitive& named : all_primitives(team)) {
    Order order;
    order.primitive = true;
    order.what = named.what;
    order.cell.bytes = named.bytes;
    add(named.name, order);
  }
}

/// Into the context of the JSON: for each cell that will run and leaves the choice open, the record
/// of the choice.
void add_explanations(const Team& team, Cycle cycle) {
  std::string filter = benchmark::GetBenchmarkFilter();
  const bool others = filter.starts_with('-');  // as Google Benchmark reads it: all but these
  const std::regex wanted(others ? filter.substr(1) : filter);
  for (const NamedCell& named : all_cells(team, cycle)) {
    if (!named.algorithm.empty() || std::regex_search(named.name, wanted) == others) continue;
    benchmark::AddCustomContext("explain " + named.name, why(team, named.cell));
  }
}

std::unique_ptr<benchmark::BenchmarkReporter> display_for(const Flags& flags,
                                                          const std::string& header) {
  if (flags.json) return json_reporter();
  if (flags.table == nullptr) return table_reporter(header);
  return markdown_reporter(
      fmt::format("{}: {}; {}", flags.table->name, flags.table->summary, header));
}

void lead(Team& team, std::vector<char*> args, const Flags& flags, const MachineSpeed& speed,
          const std::string& header) {
  std::string filter =
      "--benchmark_filter=^(allreduce|(allgather|reduce_scatter|alltoall)v?)/f32/sum/"
      "[a-z]+/auto/bytes:[0-9]{1,7}$|^(barrier|put_signal)";
  if (flags.table != nullptr) {
    filter = fmt::format("--benchmark_filter={}", flags.table->filter);
  }
  if (!flags.filtered) args.insert(args.begin() + 1, filter.data());
  // Our times are not its times: one iteration is enough. As a flag this leaves names alone.
  std::string shortest = "--benchmark_min_time=1e-9";
  args.insert(args.begin() + 1, shortest.data());
  auto count = static_cast<int>(args.size());
  benchmark::Initialize(&count, args.data());
  if (count > 1) refuse_usage(fmt::format("unknown argument \"{}\"", args[1]));
  add_benchmarks(team, flags, speed);
  benchmark::AddCustomContext("machine", header);
  benchmark::AddCustomContext("pes", std::to_string(team.size()));
  benchmark::AddCustomContext("cycle", std::string(name_of(flags.cycle)));
  benchmark::AddCustomContext("rounds", std::to_string(flags.effort.rounds));
  benchmark::AddCustomContext("counts", "PE i's block is proportional to i + 1");
  if (flags.json || !flags.out.empty()) add_explanations(team, flags.cycle);
  const auto display = display_for(flags, header);
  const auto file = json_reporter();
  benchmark::RunSpecifiedBenchmarks(display.get(), flags.out.empty() ? nullptr : file.get());
  Order stop;
  stop.stop = true;
  exchange(team, stop);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> args(argv, argv + argc);
  for (const std::string_view arg : args) {
    if (arg == "--help" || arg == "-h") {
      fmt::print("{}", help_text());
      return 0;
    }
  }
  return launch(argc, argv, [&](Team& team) {
    std::vector<char*> mine = args;
    const Flags flags = take_flags(mine);
    const MachineSpeed speed = measure_speed(team);
    const double line = team.measure_line_ns();
    const std::string baseline = mpi_description();
    const std::string header = fmt::format(
        "tutti {}, {} PEs, line transfer {:.0f} ns ({}), copy {:.1f} GB/s, dirty lines {:.1f} "
        "GB/s, baseline {}, cycle {}",
        version(), team.size(), line, regime_of(static_cast<int>(line)), speed.copy_gbps,
        speed.cross_gbps, baseline.empty() ? "none (PEs are threads)" : baseline,
        name_of(flags.cycle));
    if (team.pe() == 0) {
      lead(team, mine, flags, speed, header);
    } else {
      serve(team, flags, speed);
    }
  });
}
