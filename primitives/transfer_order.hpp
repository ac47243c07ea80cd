// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "primitives/block.hpp"
#include "primitives/team_state.hpp"
#include "tutti/order.hpp"

namespace tutti::detail {

/// The kind of an operation that comes after others: puts may overtake each other on their way to a
/// target, a word overtakes nothing.
enum class Kind : unsigned char { Put, Word };

/// Makes what this PE does next at `world_pe` (Token::kSeveral: at several PEs; Token::kDone: here)
/// take effect after all of `after`. By load and store that is so anyway: everything has taken
/// effect before its token was returned.
void order_slowly(TeamState& team, std::span<const Token> after, int world_pe, Kind kind);
inline void order(TeamState& team, std::span<const Token> after, int world_pe, Kind kind) {
  if (!after.empty() && team.world().transport() != nullptr) [[unlikely]] {
    order_slowly(team, after, world_pe, kind);
  }
}

/// The receipt of something that this PE sent to member `pe`'s instance of `block`.
inline Token receipt(const TeamState& team, const Block& block, int pe) {
  return block.direct(pe) != nullptr ? Token() : Token(team.member(pe));
}

/// Blocks until all that this PE sent to the members has taken effect.
void quiet(TeamState& team, const char* what);

/// Raises the word at `offset` of member `pe`'s instance, after all that this PE put there.
void raise_word(TeamState& team, const Block& block, std::size_t offset, int pe,
                std::uint64_t value, WordUpdate update);

}  // namespace tutti::detail
