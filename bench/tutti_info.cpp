// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "bench/baseline.hpp"
#include "bench/engine.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

constexpr const char* kHelp =
    R"(tutti-info: what this machine and this build are.

  tutti-info              PEs are threads (TUTTI_PES; default: the usable CPUs)
  mpirun -n N tutti-info  PEs are processes

Prints versions, CPUs and caches, limits, transports, the calibration (line transfer between the
PEs' caches, copy bandwidth, bandwidth of lines that another core has just written) and all
algorithms with their parameters.
)";

void print_machine(const MachineFacts& here, int usable) {
  fmt::print("machine\n  cpu               {}\n  usable cpus       {} of {}\n", here.cpu, usable,
             here.cores);
  fmt::print("  caches            L2 {} KiB a core, L3 {} KiB\n", here.l2_kib, here.l3_kib);
  fmt::print("  instruction sets  {}\n", here.instruction_sets);
}

void print_algorithms(const Team& team) {
  for (const Collective collective : {Collective::Allreduce, Collective::Allgather,
                                      Collective::ReduceScatter, Collective::Broadcast}) {
    fmt::print("{}\n", name_of(collective));
    for (const Algorithm* algorithm : algorithms(collective)) {
      Problem problem;
      problem.collective = collective;
      problem.pes = team.size();
      problem.count = 8;
      const char* refused = algorithm->supports(problem);
      fmt::print("  {:<15} {}{}\n", algorithm->name, algorithm->summary,
                 refused == nullptr ? "" : fmt::format(" (here, private: {})", refused));
      fmt::print("  {:<15} contracts: {}; source: {}\n", "",
                 algorithm->keeps_ordered ? "consistent, ordered" : "consistent",
                 algorithm->source);
      for (const Parameter& p : algorithm->parameters) {
        std::string range = fmt::format("{} to {}, initially {}", p.min, p.max, p.initial);
        if (!p.choices.empty()) {
          range = fmt::format("{}, initially {}", fmt::join(p.choices, " or "),
                              p.choices[static_cast<std::size_t>(p.initial)]);
        }
        fmt::print("  {:<15} {}: {} ({})\n", "", p.name, p.summary, range);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      fmt::print("{}", kHelp);
      return 0;
    }
    fmt::print(stderr, "tutti-info: unknown argument \"{}\"; --help says what is allowed\n", arg);
    return 2;
  }
  const int usable = usable_cpus();  // before PEs are bound to one each
  return launch(argc, argv, [usable](Team& team) {
    const bench::MachineSpeed speed = bench::measure_speed(team);
    const double line = team.measure_line_ns();
    if (team.pe() != 0) return;
    const std::string mpi = bench::mpi_description();
    fmt::print("tutti {}\n", version());
    fmt::print("  mpi               {}\n", mpi.empty() ? "not running in this process" : mpi);
    print_machine(this_machine(), usable);
    fmt::print("job\n  PEs               {} ({})\n", team.size(),
               mpi.empty() ? "threads of one process" : "processes");
    fmt::print("  transport         load and store\n");
    fmt::print("  line transfer     {:.0f} ns ({})\n", line, regime_of(static_cast<int>(line)));
    fmt::print("  copy bandwidth    {:.1f} GB/s, dirty lines of another core {:.1f} GB/s\n",
               speed.copy_gbps, speed.cross_gbps);
    print_algorithms(team);
  });
}
