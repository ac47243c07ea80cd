// SPDX-License-Identifier: Apache-2.0
#include "primitives/tensor_checks.hpp"

#include <fmt/format.h>

#include "tutti/error.hpp"

namespace tutti::detail {

void refuse(const TeamState& team, const char* what, const std::string& text) {
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{} on team {}, PE {}: {}", what, team.name(), team.pe(), text));
}

void refuse_pe(const TeamState& team, const char* what, int pe) {
  refuse(team, what, fmt::format("there is no PE {}; allowed are 0 to {}", pe, team.pes() - 1));
}

}  // namespace tutti::detail
