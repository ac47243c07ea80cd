// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "tutti/algorithm.hpp"

namespace tutti::detail {

/// What an integer may be. `size`: it counts bytes, so "64K" is allowed.
struct IntegerRule {
  std::int64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  bool size = false;
};

/// A value, or why there is none. `bits` is two's complement when `min` is negative.
struct IntegerResult {
  std::uint64_t bits = 0;
  std::string refusal;
};

/// Reads a whole number from its characters, without any detour over floating point. Only digits
/// (with a sign where negatives are allowed) are read, and sizes where `rule.size` says so; a
/// refusal names the value, the allowed range and, for 1.5 and 1e3, the rule.
IntegerResult read_integer(std::string_view text, const IntegerRule& rule);

/// A parameter's rule: it is a size if its name ends in "_bytes".
IntegerRule rule_of(const Parameter& parameter);

/// Reads the value of a parameter, by the name of its choice if it has choices.
IntegerResult read_parameter(const Parameter& parameter, std::string_view text);

/// The index of the parameter, or -1.
int parameter_index(const Algorithm& algorithm, std::string_view name) noexcept;

/// "unknown parameter 'slotz' of one_shot; did you mean ..."
std::string unknown_parameter(const Algorithm& algorithm, std::string_view name);

}  // namespace tutti::detail
