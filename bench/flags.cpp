// SPDX-License-Identifier: Apache-2.0
#include "bench/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tutti/error.hpp"

namespace tutti::bench {
namespace {

constexpr const char* kHelp =
    R"(tutti-bench: measures Tutti's collectives and primitives beside the installed MPI's.

  tutti-bench [flags]              PEs are threads (TUTTI_PES; default: the usable CPUs)
  mpirun -n N tutti-bench [flags]  PEs are processes; with the baseline

Benchmarks are named collective/type/op/memory/algorithm/bytes:N, for example
allreduce/f32/sum/private/auto/bytes:4096; memory is private, inplace or symmetric; bytes are
those really measured: whole elements (and equal blocks), at least one a PE. Layers are
named moe/model/routing/algorithm/tokens:N (dispatch and combine; routing uniform or hot), and
primitives barrier, wait, decision/problems:1 and 8 (what to run, of so many in turn), put_self,
put_signal[/own_word], put, get, put_tiled.
A cycle is produce (each PE writes its whole input) + collective + consume (each reads its whole
output); "MPI / this" is the median of ratios of neighbouring blocks, with its 95 % interval.

  --benchmark_filter=REGEX   which benchmarks (default: f32, sum, auto, up to 4 MiB)
  --benchmark_format=json    JSON instead of the table; --benchmark_out=FILE writes it besides
  --benchmark_list_tests     list the names
  --table=NAME               a table of docs/performance.md in Markdown: allreduce, collectives,
                             counts, halves or primitives
  --cycle=same|rotate|decode|skew   what happens between two calls (default same)
  --rounds=N                 blocks for each figure, 3 to 1001 (default 15)
  --block_ms=N               length of a block, 1 to 1000 (default 2)
  --help                     this text

Blocks of collectives with counts (allgatherv, ...) are uneven: PE i's is proportional to i + 1.
Reductions of bf16 and f16 run beside as many elements of f32: "of_f32" is their share of its time.

Variables: TUTTI_PES TUTTI_WORKERS TUTTI_HEAP TUTTI_TIMEOUT TUTTI_TUNING TUTTI_ALGORITHM
TUTTI_TRACE TUTTI_FOLLOW_REGIME.
Columns: time of a cycle and its interval; line transfer between the PEs' caches in ns and regime
(near < 80, mid, far > 150); percent of the bound (docs/performance.md); wrong elements.
)";

int number(std::string_view flag, const std::string& text, int low, int high) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < low || value > high) {
    refuse_usage(fmt::format("{} is \"{}\"; allowed are {} to {}", flag, text, low, high));
  }
  return static_cast<int>(value);
}

[[noreturn]] void refuse_table(const std::string& name) {
  std::string names;
  for (const TableKind& kind : table_kinds()) names += ' ' + std::string(kind.name);
  refuse_usage(fmt::format("there is no table \"{}\"; there are{}", name, names));
}

}  // namespace

std::string_view help_text() { return kHelp; }

void refuse_usage(const std::string& text) {
  throw Error(ErrorCode::InvalidArgument, text + "; tutti-bench --help says what is allowed");
}

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
    } else if (arg.starts_with("--table=")) {
      flags.table = find_table(value);
      if (flags.table == nullptr) refuse_table(value);
    } else if (arg == "--benchmark_format=json") {
      flags.json = true;
    } else if (i > 0 && !arg.starts_with("--benchmark_")) {
      refuse_usage(fmt::format("unknown argument \"{}\"", arg));
    } else {
      flags.filtered = flags.filtered || arg.starts_with("--benchmark_filter");
      flags.listing = flags.listing || arg.starts_with("--benchmark_list_tests");
      if (arg.starts_with("--benchmark_out=")) flags.out = value;
      rest.push_back(args[i]);
    }
  }
  if (flags.table != nullptr && (flags.filtered || flags.json)) {
    refuse_usage("--table brings its own filter and format");
  }
  args = rest;
  return flags;
}

}  // namespace tutti::bench
