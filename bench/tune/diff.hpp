// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tutti/tuning.hpp"

namespace tutti::bench {

/// Problems for which two files choose differently.
struct Change {
  Problem problem;      ///< the smallest one; the others differ in size alone
  std::size_t low = 0;  ///< bytes
  std::size_t high = 0;
  std::string before;  ///< as `describe` of algorithm and parameters
  std::string after;
  double gain = 1;               ///< expected time before / after, over the cycles
  bool measured = false;         ///< the gain comes from points of a file, else from the cost model
  bool bits_may_change = false;  ///< of a `Consistent` reduction of 3 and more PEs
};

/// All changes between two files for the kinds of problems that one of them speaks about; where a
/// file says nothing, the built-in rules decide. A pure function.
std::vector<Change> changes(const Tuning& before, const Tuning& after);

}  // namespace tutti::bench
