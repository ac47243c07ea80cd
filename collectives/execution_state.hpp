// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/kernels/fold.hpp"
#include "primitives/lane.hpp"
#include "primitives/team_state.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/collectives.hpp"

namespace tutti::detail {

/// What an `Execution` refers to: one call on one lane.
class ExecutionState {
 public:
  TeamState& team;
  Lane& lane;
  const Problem& problem;
  const Buffers& buffers;
  int root = -1;             ///< or a ring's shift
  Ring* ring = nullptr;      ///< nullptr if the algorithm stages nothing
  FoldFn fold_fn = nullptr;  ///< nullptr if nothing is reduced, or by the program's own function
  std::span<std::byte> user_room = {};  ///< for the latter: at least an element
  std::span<const std::byte*> sources;
  std::span<std::byte*> targets;
  std::span<const std::byte*> peer_ins = {};  ///< where each PE's buffers lie, once they are open
  std::span<std::byte*> peer_outs = {};
  std::span<const std::size_t> in_begins = {};  ///< of blocks with counts: pes + 1 each
  std::span<const std::size_t> out_begins = {};
  WorkerPool* workers = nullptr;  ///< nullptr if this PE copies and folds alone
  bool posted = false;            ///< whether the algorithm has published anything
  Traffic traffic = {};
};

}  // namespace tutti::detail
