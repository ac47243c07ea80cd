// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/tune/grid.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {

/// What the command line of tutti-tune says, as written.
struct Arguments {
  std::string out = "tuning.json";
  std::string budget = "8m";
  std::string collectives =
      "allreduce,allgather,reduce_scatter,broadcast,reduce,gather,scatter,alltoall";
  std::string types = "f32";
  std::string memory = "private,symmetric";
  std::string contracts = "consistent";
  std::string cycles = "same,rotate,decode,skew";
  std::string pe_counts;
  std::string smallest = "8";
  std::string largest = "4M";
  bool resume = false;
  bool no_trials = false;
  std::string file;
  std::string other_file;
  bool any_machine = false;
  std::string seconds;
  std::string collective;
  int pes = 2;
  int nodes = 1;
  int line_ns = 0;
  bool threads = false;
  std::string bytes;
  std::string dtype = "f32";
  std::string op = "sum";
  std::string kind = "private";
  std::string contract = "consistent";
  std::string algorithm;  ///< what the call insists on; empty: nothing
  std::vector<std::string> choices;
};

/// Errors of all: `InvalidArgument`.
SweepPlan plan_of(const Arguments& args);
/// The teams' sizes of a sweep on `pes` PEs, as --pes says; `pes` if it says nothing.
std::vector<int> pe_counts_of(const Arguments& args, int pes);
/// Of `explain`.
Problem problem_of(const Arguments& args);
/// Of `try`.
Cell cell_of(const Arguments& args);
double seconds_of(const std::string& name, const std::string& text);

}  // namespace tutti::bench
