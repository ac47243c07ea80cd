// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/engine.hpp"

namespace tutti::bench {

/// Which contender failed, and why, as the PE says where it began: the others, a call behind or
/// ahead, only saw the team poisoned. All PEs get the same.
struct Blame {
  std::size_t contender = 0;
  bool hung = false;  ///< a deadline passed
  std::string reason;
};

/// Collective over a team that works: each PE says what it saw of a measurement on another team.
/// Nothing if no PE saw a failure.
std::optional<Blame> agreed_blame(Team& team, const std::optional<ContenderFailed>& failure);

}  // namespace tutti::bench
