// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/baseline.hpp"
#include "bench/cells.hpp"
#include "bench/engine.hpp"
#include "bench/moe_cells.hpp"
#include "bench/report.hpp"
#include "tutti/tutti.hpp"

// Google Benchmark is the face: it runs on PE 0 only, since its iteration counts and its shuffling
// differ from process to process. For each benchmark PE 0 sends an order to all PEs, which measure
// the cell together with our own engine; the result becomes the benchmark's time and counters.

namespace {

using namespace tutti;
using namespace tutti::bench;

constexpr const char* kHelp =
    R"(tutti-bench: measures Tutti's collectives and primitives beside the installed MPI's.

  tutti-bench [flags]              PEs are threads (TUTTI_PES; default: the usable CPUs)
  mpirun -n N tutti-bench [flags]  PEs are processes; with the baseline

Benchmarks are named collective/type/op/memory/algorithm/bytes:N, for example
allreduce/f32/sum/private/auto/bytes:4096; memory is private, inplace or symmetric. Layers are
named moe/model/routing/algorithm/tokens:N (dispatch and combine; routing uniform or hot), and
primitives barrier, wait, put_self, put_signal[/own_word], put, get, put_tiled.
A cycle is produce (each PE writes its whole input) + collective + consume (each reads its whole
output); "MPI / this" is the median of ratios of neighbouring blocks, with its 95 % interval.

  --benchmark_filter=REGEX   which benchmarks (default: f32, sum, auto, up to 4 MiB)
  --benchmark_format=json    JSON instead of the table; --benchmark_out=FILE writes it besides
  --benchmark_list_tests     list the names
  --cycle=same|rotate|decode|skew   what happens between two calls (default same)
  --rounds=N                 blocks for each figure, 3 to 1001 (default 15)
  --block_ms=N               length of a block, 1 to 1000 (default 2)
  --help                     this text

Variables: TUTTI_PES TUTTI_WORKERS TUTTI_HEAP TUTTI_TIMEOUT TUTTI_TUNING TUTTI_ALGORITHM
TUTTI_TRACE TUTTI_FOLLOW_REGIME.
Columns: time of a cycle and its interval; line transfer between the PEs' caches in ns and regime
(near < 80, mid, far > 150); percent of the bound (docs/performance.md); wrong elements.
)";

struct Flags {
  Cycle cycle = Cycle::Same;
  Effort effort;
  bool json = false;
  bool filtered = false;
  bool listing = false;
  std::string out;
};

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

[[noreturn]] void usage(const std::string& text) {
  throw Error(ErrorCode::InvalidArgument, text + "; tutti-bench --help says what is allowed");
}

int number(std::string_view flag, const std::string& text, int low, int high) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < low || value > high) {
    usage(fmt::format("{} is \"{}\"; allowed are {} to {}", flag, text, low, high));
  }
  return static_cast<int>(value);
}

/// Takes our own flags out of `args`; the rest is Google Benchmark's.
Flags take_flags(std::vector<char*>& args) {
  Flags flags;
  std::vector<char*> rest;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    const std::string value(arg.substr(std::min(arg.size(), arg.find('=') + 1)));
    if (arg.starts_with("--cycle=")) {
      flags.cycle = cycle_from(value);
    } else if (arg.starts_with("--rounds=")) {
      flags.effort.rounds = number("--rounds", value, 3, 1001);
    } else if (arg.starts_with("--block_ms=")) {
      flags.effort.block_ms = number("--block_ms", value, 1, 1000);
    } else if (arg == "--benchmark_format=json") {
      flags.json = true;
    } else if (i > 0 && !arg.starts_with("--benchmark_")) {
      usage(fmt::format("unknown argument \"{}\"", arg));
    } else {
      flags.filtered = flags.filtered || arg.starts_with("--benchmark_filter");
      flags.listing = flags.listing || arg.starts_with("--benchmark_list_tests");
      if (arg.starts_with("--benchmark_out=")) flags.out = value;
      rest.push_back(args[i]);
    }
  }
  args = rest;
  return flags;
}

/// What all PEs do for one order; the result matters on PE 0.
struct Outcome {
  Estimate time;
  Estimate vs_mpi;
  Estimate mpi;
  double touch = 0;
  double line_ns = 0;
  double bound = 0;
  double wrong = 0;
  int dropped = 0;
  std::string ran;
};

Outcome measure_cell(Team& team, const Order& order, const Effort& effort,
                     const MachineSpeed& speed) {
  const Workload work(team, order.cell);
  std::vector<Contender> contenders = {
      touch_only(), tutti_call(team, order.algorithm.data(), order.cell.contract)};
  if (const auto mpi = mpi_baseline(team, work)) contenders.push_back(*mpi);
  const Measurement measured = measure(team, work, contenders, effort);
  Outcome outcome;
  outcome.time = estimate(measured.seconds[1]);
  outcome.touch = estimate(measured.seconds[0]).median;
  if (contenders.size() > 2) {
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

void lead(Team& team, std::vector<char*> args, const Flags& flags, const MachineSpeed& speed,
          const std::string& header) {
  std::string filter =
      "--benchmark_filter=^(allreduce|allgather|reduce_scatter)/f32/sum/"
      "[a-z]+/auto/bytes:[0-9]{1,7}$|^(barrier|put_signal)";
  if (!flags.filtered) args.insert(args.begin() + 1, filter.data());
  // Our times are not its times: one iteration is enough. As a flag this leaves names alone.
  std::string shortest = "--benchmark_min_time=1e-9";
  args.insert(args.begin() + 1, shortest.data());
  auto count = static_cast<int>(args.size());
  benchmark::Initialize(&count, args.data());
  if (count > 1) usage(fmt::format("unknown argument \"{}\"", args[1]));
  add_benchmarks(team, flags, speed);
  benchmark::AddCustomContext("machine", header);
  const auto display = flags.json ? json_reporter() : table_reporter(header);
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
      fmt::print("{}", kHelp);
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
