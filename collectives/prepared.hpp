// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/team_tuner.hpp"
#include "tutti/collectives.hpp"

namespace tutti::detail {

/// A call that was checked and decided, ready to run as often as one likes.
struct Prepared {
  Call call;  ///< without the name of an algorithm: that is decided
  Buffers buffers;
  std::vector<std::size_t> counts;  ///< of `buffers`
  std::vector<std::size_t> out_counts;
  Plan plan;                             ///< nothing in a team of one PE
  const std::byte* own_block = nullptr;  ///< what a team of one PE copies
  int root = -1;
};

/// Runs a plan on the call's lane.
void run_plan(TeamState& team, const Plan& plan, const Buffers& buffers, int root,
              const Call& call);

/// The whole call in a team of one PE.
void copy_own_block(const TeamState& team, const Buffers& buffers, const std::byte* own_block);

}  // namespace tutti::detail
