// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/tuning.hpp"

namespace tutti::bench {

/// A time with its interval at 95 %, from so many rounds.
struct TimedCell {
  Interval us;
  std::size_t rounds = 0;
};
using Results = std::map<std::string, TimedCell>;

/// The times of a tuning file's points, named collective/type/op/memory/contract/pes/regime/cycle/
/// algorithm/bytes:N.
Results results_of(const Tuning& file);

/// The times in a JSON file of tutti-bench. Errors: `InvalidArgument` if it is none.
Results results_of_bench(std::string_view json, std::string_view name);

/// A cell that both results have. `ratio` is the second time / the first, with an interval that is
/// as wide as the number of cells asks for.
struct Comparison {
  std::string name;
  Interval ratio;
  bool differs = false;
};

/// Compares cell by cell. The probability that two results of one and the same thing show any
/// difference at all is at most 5 %: each cell is tested at 5 % / number of cells, with Student's t
/// on the logarithms, whose standard errors come from the intervals. What one side lacks is left
/// out.
std::vector<Comparison> compare(const Results& a, const Results& b);

}  // namespace tutti::bench
