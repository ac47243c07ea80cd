// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "primitives/team_state.hpp"

namespace tutti::detail {

/// Throws `Error` (InvalidArgument) on this PE alone: what is one-sided is refused by one side.
[[noreturn]] void refuse(const TeamState& team, const char* what, const std::string& text);
[[noreturn]] void refuse_pe(const TeamState& team, const char* what, int pe);

inline void check_pe(const TeamState& team, const char* what, int pe) {
  if (pe < 0 || pe >= team.pes()) [[unlikely]] {
    refuse_pe(team, what, pe);
  }
}

}  // namespace tutti::detail
