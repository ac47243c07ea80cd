// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// All that may decide, beside the problem; equal on all PEs of a team. Refers, does not own.
struct SelectorInput {
  const Catalog* catalog = nullptr;
  const Forced* call = nullptr;              ///< what the call insists on, if anything
  std::span<const Forced> environment = {};  ///< at most one a collective
  std::span<const Rule> file = {};
  std::span<const Rule> built_in = {};
  const MachineFacts* machine = nullptr;  ///< for the cost model: the file's, if there is one
};

/// A rule of the file that matched and could not be followed.
struct SkippedRule {
  const Rule* rule = nullptr;
  std::string reason;  ///< with the rule's origin and the problem
};

/// What runs, and who said so.
struct Decision {
  const Algorithm* algorithm = nullptr;
  Params params;
  Where where = Where::BuiltIn;
  const Rule* rule = nullptr;        ///< nullptr where no rule decided
  std::string origin;                ///< the rule's, or who insisted
  std::uint64_t hash = 0;            ///< of collective, algorithm and parameters
  std::vector<SkippedRule> skipped;  ///< in the order of the file
};

/// Chooses: call > environment > file > built-in rules > the cost model. A pure function: equal
/// arguments, equal decision.
/// Errors: `Tuning` if a forced choice cannot solve the problem; `Unsupported` if nothing can.
Decision select(const Problem& problem, const SelectorInput& input);

/// Why the algorithm cannot solve the problem within its contract, or nullptr.
const char* why_not(const Algorithm& algorithm, const Problem& problem);

/// "allreduce of 4096 bytes (1024 f32, sum), private, consistent, 2 PEs on 1 node, line 45 ns"
std::string describe(const Problem& problem);

}  // namespace tutti::detail
