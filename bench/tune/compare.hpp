// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
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
/// What was measured, and where: only what agrees in both is compared.
struct CellName {
  std::string what;   ///< "allreduce/f32/sum/private/consistent/one_shot/bytes:4096"
  std::string where;  ///< PEs, regime and cycle: "pes:2/near/same"

  friend auto operator<=>(const CellName&, const CellName&) = default;
};
using Results = std::map<CellName, TimedCell>;

/// The times of a tuning file's points.
Results results_of(const Tuning& file);

/// The times in a JSON file of tutti-bench. Errors: `InvalidArgument` if it is none.
Results results_of_bench(std::string_view json, std::string_view name);

/// A cell that both results have. `ratio` is the second time / the first, with an interval that is
/// as wide as the number of cells asks for.
struct Comparison {
  CellName name;
  Interval ratio;
  bool differs = false;
};

/// Compares cell by cell. The probability that two results of one and the same thing show any
/// difference at all is at most 5 %: each cell is tested at 5 % / number of cells, with Student's t
/// on the logarithms, whose standard errors come from the intervals. What one side lacks is left
/// out.
std::vector<Comparison> compare(const Results& a, const Results& b);

/// What both results have, but nowhere under the same conditions: "allreduce/.../bytes:64:
/// pes:2/near/same in the first, pes:2/far/same in the second".
std::vector<std::string> not_comparable(const Results& a, const Results& b);

}  // namespace tutti::bench
