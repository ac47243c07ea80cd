// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/rules.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/tuner/regimes.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti {
namespace {

template <class Fact>
bool agrees(const std::optional<Fact>& wanted, Fact actual) noexcept {
  return !wanted || *wanted == actual;
}

std::uint64_t number(int value) noexcept { return static_cast<std::uint64_t>(std::max(value, 0)); }

}  // namespace

bool Rule::matches(const Problem& problem) const noexcept {
  if (collective != problem.collective) return false;
  if (!pes.contains(number(problem.pes)) || !nodes.contains(number(problem.nodes))) return false;
  if (!bytes.contains(bytes_of(problem)) || !line_ns.contains(number(problem.line_ns))) {
    return false;
  }
  if (!agrees(dtype, problem.dtype) || !agrees(memory, problem.memory)) return false;
  if (!reduces(problem.collective)) return true;
  return agrees(op, problem.op) && agrees(contract, problem.contract);
}

std::string_view regime_of(int line_ns) noexcept {
  if (line_ns <= 0) return "unknown";
  if (line_ns < detail::kNearBelow) return "near";
  return line_ns > detail::kFarAbove ? "far" : "mid";
}

}  // namespace tutti
