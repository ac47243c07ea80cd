// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tutti/tuning.hpp"

namespace tutti::bench {

/// A size at which one element more makes calls much slower, or faster, because another choice
/// begins there.
struct Cliff {
  Problem problem;        ///< with the count where the second choice begins
  std::size_t bytes = 0;  ///< of that problem
  std::string before;     ///< the choice for one element less
  std::string after;
  Interval ratio;         ///< time after / time before
  bool measured = false;  ///< else both times are the cost model's
};

/// The cliffs of a file: neighbouring sizes whose chosen algorithms' times differ by more than 25 %
/// beyond their intervals, one of the two choices being the file's. The times are those of its
/// points or, where it has none, of its evidence; in between and beyond by the cost model. Where
/// the first choice cannot go on, there is no cliff.
std::vector<Cliff> cliffs(const Tuning& file);

/// "allreduce f32 sum private consistent, 2 PEs, near: at 65540 bytes two_shot takes 2.10 [1.90,
/// 2.30] times as long as one_shot one element below"; "about 2.10 times ... (predicted)" where
/// nothing was measured.
std::string to_string(const Cliff& cliff);

}  // namespace tutti::bench
