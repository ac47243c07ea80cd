// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/measured.hpp"

namespace tutti::bench {

/// One row of tutti-bench's JSON. 0: not measured there.
struct BenchRow {
  std::string name;       ///< "allreduce/f32/sum/private/auto/bytes:4096"
  std::string kind;       ///< the name without algorithm and size
  std::string algorithm;  ///< "auto": the tuner's choice; empty where the name has no such part
  std::size_t bytes = 0;
  Interval us;
  Interval mpi_us;  ///< interval from that of the ratios
  double line_ns = 0;
  double bound_us = 0;
  std::size_t wrong = 0;
  std::size_t dropped = 0;
  std::string ran;  ///< what the tuner chose, with its parameters
};

struct BenchFile {
  std::string machine;  ///< the table's header line
  std::string date;
  int pes = 0;  ///< 0: the file does not say
  std::string cycle;
  std::size_t rounds = 0;  ///< blocks of each figure
  std::vector<BenchRow> rows;
};

/// Reads what `tutti-bench --benchmark_format=json` or `--benchmark_out` wrote. `name` is that of
/// the file. Errors: `InvalidArgument` if it is something else.
BenchFile read_bench(std::string_view json, std::string_view name);

}  // namespace tutti::bench
