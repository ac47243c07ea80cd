// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/tune/promises.hpp"
#include "tutti/tuning.hpp"

/// Does a file still do what it promises?
namespace tutti::bench {

/// A rule measured against the built-in choice, or why it was not.
struct RuleCheck {
  const Rule* rule = nullptr;
  std::size_t bytes = 0;
  std::string skipped;  ///< "another regime", ...; empty if it was measured
  Interval vs_builtin;
};

/// Measures each rule of the file for this number of PEs and this regime against the built-in
/// choice, in `seconds` altogether. Collective; the result is PE 0's.
std::vector<RuleCheck> verify(Team& team, const Tuning& file, double seconds);

/// Measures the held-out cells in `seconds` altogether; what came in a regime that the file does
/// not cover is left out. Collective; the result is PE 0's.
std::vector<HeldOut> held_out_regrets(Team& team, const Tuning& file, double seconds);

}  // namespace tutti::bench
