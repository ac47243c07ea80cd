// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bench/tune/kinds.hpp"

namespace tutti::bench {
namespace {

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

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::InvalidArgument, text); }

template <class T, class F>
std::vector<T> each_of(const std::string& option, const std::string& list, F&& from) {
  std::vector<T> all;
  for (const std::string& name : parts_of(list)) {
    const T value = from(name);
    if (std::ranges::find(all, value) != all.end()) {
      refuse(fmt::format("{} {}: {} is given twice", option, list, name));
    }
    all.push_back(value);
  }
  return all;
}

Placement placement_from(const std::string& name) { return placement_in(memory_from(name)); }

int number_from(const std::string& option, const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(fmt::format("{} \"{}\" is not a whole number", option, text));
  }
  return value;
}

/// All but the size.
Problem kind_of(const Arguments& args) {
  Problem problem;
  problem.collective = collective_from(args.collective);
  problem.dtype = dtype_from(args.dtype);
  problem.op = op_from(args.op);
  problem.memory = memory_from(args.kind);
  problem.contract = contract_from(args.contract);
  problem.pes = args.pes;
  problem.nodes = args.nodes;
  problem.reachable = args.nodes == 1;
  problem.line_ns = args.line_ns;
  problem.shared_address_space = args.threads;
  if (!has_meaning(problem)) {
    refuse(fmt::format("--op {} --dtype {}: bitwise operations are for integers", args.op,
                       args.dtype));
  }
  if (args.nodes > args.pes) {
    refuse(fmt::format("--nodes {}: {} PEs are on 1 to {} nodes", args.nodes, args.pes, args.pes));
  }
  if (args.threads && args.nodes > 1) {
    refuse(fmt::format("--nodes {} --threads: threads of one process are on 1 node", args.nodes));
  }
  return problem;
}

/// The size as said; refused where elements would be left over.
std::size_t bytes_of(const Arguments& args, const Problem& kind) {
  const std::size_t bytes = parse_size("--bytes", args.bytes);
  const std::size_t grain = grain_of(kind);
  if (bytes % grain == 0) return bytes;
  const std::string blocks = has_blocks(kind.collective)
                                 ? fmt::format(", an element for each of {} PEs", kind.pes)
                                 : std::string();
  refuse(fmt::format("--bytes {}: {} of {} takes multiples of {} bytes{}", args.bytes,
                     args.collective, args.dtype, grain, blocks));
}

}  // namespace

double seconds_of(const std::string& name, const std::string& text) {
  const double seconds = static_cast<double>(parse_time(name, text).count()) / 1000.0;
  if (seconds <= 0) refuse(fmt::format("{} {} must be more than nothing", name, text));
  return seconds;
}

SweepPlan plan_of(const Arguments& args) {
  SweepPlan plan;
  plan.collectives = each_of<Collective>("--collectives", args.collectives, collective_from);
  if (std::ranges::find(plan.collectives, Collective::Alltoallv) != plan.collectives.end()) {
    refuse(
        "--collectives alltoallv: its counts differ from PE to PE, so no rule is about its size");
  }
  plan.types = each_of<DType>("--types", args.types, dtype_from);
  plan.placements = each_of<Placement>("--memory", args.memory, placement_from);
  plan.contracts = each_of<Contract>("--contracts", args.contracts, contract_from);
  plan.cycles = each_of<Cycle>("--cycles", args.cycles, cycle_from);
  plan.smallest = parse_size("--min", args.smallest);
  plan.largest = parse_size("--max", args.largest);
  if (plan.smallest == 0 || plan.smallest > plan.largest) {
    refuse(
        fmt::format("--min {} --max {}; 1 <= min <= max must hold", args.smallest, args.largest));
  }
  plan.budget_seconds = seconds_of("--budget", args.budget);
  return plan;
}

std::vector<int> pe_counts_of(const Arguments& args, int pes) {
  if (args.pe_counts.empty()) return {pes};
  const auto from = [](const std::string& text) { return number_from("--pes", text); };
  const std::vector<int> counts = each_of<int>("--pes", args.pe_counts, from);
  for (const int count : counts) {
    if (count < 2 || count > pes) {
      refuse(fmt::format("--pes {}: {} is not between 2 and the {} PEs that there are",
                         args.pe_counts, count, pes));
    }
  }
  return counts;
}

Problem problem_of(const Arguments& args) {
  Problem problem = kind_of(args);
  const std::size_t bytes = bytes_of(args, problem);
  if (problem.collective == Collective::Alltoallv) {
    if (bytes == 0) return problem;
    refuse(fmt::format(
        "--bytes {}: only 0 is allowed for alltoallv, whose counts are not equal on all PEs",
        args.bytes));
  }
  problem.count = bytes / grain_of(problem);
  return problem;
}

Cell cell_of(const Arguments& args) {
  const Problem problem = kind_of(args);
  Cell cell;
  cell.collective = problem.collective;
  cell.dtype = problem.dtype;
  cell.op = problem.op;
  cell.placement = placement_in(problem.memory);
  cell.contract = problem.contract;
  cell.bytes = bytes_of(args, problem);
  return cell;
}

}  // namespace tutti::bench
