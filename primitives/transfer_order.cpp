// SPDX-License-Identifier: Apache-2.0
#include "primitives/transfer_order.hpp"

#include "primitives/fault.hpp"
#include "tutti/transfer.hpp"

namespace tutti {
namespace detail {
namespace {

/// The member that is `world_pe` in the job, or -1.
int place_of(const TeamState& team, int world_pe) {
  for (int pe = 0; pe < team.pes(); ++pe) {
    if (team.member(pe) == world_pe) return pe;
  }
  return -1;
}

void await_quiet(TeamState& team, int world_pe, const char* what) {
  World& world = team.world();
  world.waiting().until([&] { return world.transport()->quiet(world_pe); },
                        {&team, what, -1, place_of(team, world_pe), {}});
}

}  // namespace

void order_slowly(TeamState& team, std::span<const Token> after, int world_pe, Kind kind) {
  World& world = team.world();
  for (const Token& token : after) {
    if (token.world_pe() == Token::kDone) continue;
    if (token.world_pe() == world_pe && world_pe >= 0) {
      if (kind == Kind::Put) world.transport()->fence(world_pe);
      continue;
    }
    for (int i = 0; i < world.pes(); ++i) {
      const bool concerned = token.world_pe() == Token::kSeveral || token.world_pe() == i;
      if (concerned && !world.peer(i).direct) await_quiet(team, i, "an operation after others");
    }
  }
}

void quiet(TeamState& team, const char* what) {
  team.check_usable();
  if (team.all_direct()) return;
  for (int pe = 0; pe < team.pes(); ++pe) {
    if (!team.world().peer(team.member(pe)).direct) await_quiet(team, team.member(pe), what);
  }
}

void raise_word(TeamState& team, const Block& block, std::size_t offset, int pe,
                std::uint64_t value, WordUpdate update) {
  delay_here("signal.raise");
  if (std::byte* at = block.direct(pe)) [[likely]] {
    raise_direct(team, at + offset, pe, value, update);
    return;
  }
  team.world().transport()->word(block.remote(pe, offset), value,
                                 update == WordUpdate::Set ? WordOp::Set : WordOp::Add);
}

}  // namespace detail

void fence(const Team& team) {
  detail::TeamState& state = team.state();
  state.check_usable();
  if (state.all_direct())
    return;  // stores of one PE, and their visibility through words, are ordered
  for (const int member : state.members()) {
    if (!state.world().peer(member).direct) state.world().transport()->fence(member);
  }
}

void quiet(const Team& team) { detail::quiet(team.state(), "quiet"); }

}  // namespace tutti
