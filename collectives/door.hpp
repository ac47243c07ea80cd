// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "collectives/team_tuner.hpp"
#include "primitives/lane.hpp"
#include "tutti/collectives.hpp"
#include "tutti/problem.hpp"

namespace tutti::detail {

/// Why a call is refused, if it is.
using Refusal = std::optional<std::string>;

/// Where a call that moves data begins: everything that can be refused is refused here, by name,
/// before any data moves; then the call is planned and run, or kept. Arguments outlive it.
class Door {
 public:
  Door(Team& team, Collective collective, const Buffers& buffers, Op op, const Call& call);

  /// `count` as in `Problem`; `own_block`: what a team of one PE copies; `root`: -1 if there is
  /// none.
  void enter(std::size_t count, const Refusal& refusal, const std::byte* own_block, int root);

  int pe() const { return team_.pe(); }
  std::size_t pes() const { return static_cast<std::size_t>(team_.pes()); }
  std::size_t element() const { return element_bytes(buffers_); }

 private:
  [[noreturn]] void refuse(Lane& lane, const std::string& reason);
  Refusal wrong_reduction() const;
  const Plan& planned(Lane& lane);
  void require_ring(Lane& lane, std::size_t bytes);
  void keep(const Plan& plan, const std::byte* own_block, int root);
  CallKind kind() const { return kind_of(problem_.collective); }

  TeamState& team_;
  const Buffers& buffers_;
  const Call& call_;
  Problem problem_;
};

}  // namespace tutti::detail
