// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "bench/baseline.hpp"
#include "bench/engine.hpp"
#include "bench/memory.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

constexpr const char* kHelp =
    R"(tutti-info: what this machine and this build are.

  tutti-info              PEs are threads (TUTTI_PES; default: the usable CPUs)
  mpirun -n N tutti-info  PEs are processes
  tutti-info --job PID    what each PE of a live or hung job waits for; PID: any process of it

Prints versions, CPUs and caches, limits, memory (pages and NUMA nodes of the symmetric heap, as
its owner and as a peer maps it), transports, the calibration (line transfer between the PEs'
caches, copy bandwidth, bandwidth of lines that another core has just written) and all algorithms
with their parameters.
)";

void print_machine(const MachineFacts& here, int usable) {
  fmt::print("machine\n  cpu               {}\n  usable cpus       {} of {}\n", here.cpu, usable,
             here.cores);
  fmt::print("  caches            L2 {} KiB a core, L3 {} KiB\n", here.l2_kib, here.l3_kib);
  fmt::print("  instruction sets  {}\n", here.instruction_sets);
}

void print_algorithms(const Team& team) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
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
                 algorithm->keeps_ordered ? "consistent, ordered"
                 : algorithm->keeps_order ? "consistent, left to right"
                                          : "consistent",
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

int usage(std::string_view text) {
  fmt::print(stderr, "tutti-info: {}; --help says what is allowed\n", text);
  return 2;
}

/// One line a PE; exit code 1 if the process has no job.
int print_job(std::string_view text) {
  int pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid < 1) {
    return usage(fmt::format("--job \"{}\" is not the number of a process", text));
  }
  try {
    const std::vector<PeStatus> all = job_status(pid);
    if (all.empty()) {
      fmt::print(stderr, "tutti-info: process {} is not part of a job of Tutti\n", pid);
      return 1;
    }
    std::uint64_t job = 0;
    for (const PeStatus& pe : all) {
      if (pe.job != job) fmt::print("job {:016x}, {} PEs\n", pe.job, pe.pes);
      job = pe.job;
      fmt::print("  PE {:<3} process {} ({}), {}: {}\n", pe.pe, pe.pid, pe.process, pe.state,
                 pe.waiting ? fmt::format("{}, since {:.1f} s", pe.waits_for, pe.waiting_seconds)
                            : "does not wait");
    }
    return 0;
  } catch (const Error& refused) {
    fmt::print(stderr, "tutti-info: {}\n", refused.what());
    return refused.code() == ErrorCode::InvalidArgument ? 2 : 1;
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
    if (arg == "--job") {
      if (argc != 3 || i != 1) return usage("--job takes one process number and nothing else");
      return print_job(argv[2]);
    }
    return usage(fmt::format("unknown argument \"{}\"", arg));
  }
  const int usable = usable_cpus();  // before PEs are bound to one each
  return launch(argc, argv, [usable](Team& team) {
    const bench::MachineSpeed speed = bench::measure_speed(team);
    const double line = team.measure_line_ns();
    const std::vector<std::string> memory = bench::memory_of_all(team);
    if (team.pe() != 0) return;
    const std::string mpi = bench::mpi_description();
    fmt::print("tutti {}\n", version());
    fmt::print("  mpi               {}\n", mpi.empty() ? "not running in this process" : mpi);
    print_machine(this_machine(), usable);
    fmt::print("job\n  PEs               {} ({})\n", team.size(),
               mpi.empty() ? "threads of one process" : "processes");
    fmt::print("  workers           {} (threads that share the copying and folding of a PE)\n",
               team.workers());
    fmt::print("  transport         load and store\n");
    fmt::print("  line transfer     {:.0f} ns ({})\n", line, regime_of(static_cast<int>(line)));
    fmt::print("  barrier           {}\n", team.barrier_algorithm());
    fmt::print("  copy bandwidth    {:.1f} GB/s, dirty lines of another core {:.1f} GB/s\n",
               speed.copy_gbps, speed.cross_gbps);
    fmt::print("  fold bandwidth    {:.1f} GB/s\n", speed.fold_gbps);
    fmt::print("memory (a symmetric tensor of 4 MiB on each PE)\n");
    for (const std::string& each : memory) fmt::print("  {}\n", each);
    print_algorithms(team);
  });
}
