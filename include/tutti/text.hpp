// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// Reads a size as all variables and options of Tutti do: digits, then nothing (bytes) or one of K,
/// M, G, T (powers of 1024). `what` names the variable or option in the error.
/// Errors: `InvalidArgument` with `what`, the value and the rule.
TUTTI_API std::size_t parse_size(std::string_view what, std::string_view text);

/// Reads a duration: digits, then nothing or s (seconds), ms, m (minutes) or h; at most 8760h.
/// Errors: as `parse_size`.
TUTTI_API std::chrono::milliseconds parse_time(std::string_view what, std::string_view text);

}  // namespace tutti
