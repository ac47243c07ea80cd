// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "primitives/block.hpp"
#include "primitives/team_state.hpp"
#include "tutti/order.hpp"
#include "tutti/transfer.hpp"

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

/// Raises a word that is reached by load and store.
inline void raise_direct(TeamState& team, std::byte* at, int pe, std::uint64_t value,
                         WordUpdate update) {
  // Publishes all that this PE stored before to whoever loads the word afterwards; sequentially
  // consistent, as `World::ring` needs it.
  const auto word = word_at(at);
  if (update == WordUpdate::Set) {
    word.exchange(value, std::memory_order_seq_cst);
  } else {
    word.fetch_add(value, std::memory_order_seq_cst);
  }
  team.world().ring_one(team.member(pe));
}

/// Raises the word at `offset` of member `pe`'s instance, after all that this PE put there.
void raise_word(TeamState& team, const Block& block, std::size_t offset, int pe,
                std::uint64_t value, WordUpdate update);

/// Blocks until member `pe` has set `done` to 1: it has written what was asked of it into
/// `landing`. It does so whenever it comes to that, so `landing` is given up, not freed, if the
/// wait fails.
template <class Landing>
void await_answer(TeamState& team, const char* what, int pe, std::unique_ptr<Landing>& landing,
                  std::uint64_t& done) {
  try {
    team.world().waiting().until(
        [&] { return std::atomic_ref<std::uint64_t>(done).load(std::memory_order_seq_cst) == 1; },
        {&team, what, -1, pe, {}});
  } catch (...) {
    static_cast<void>(landing.release());
    throw;
  }
}

/// Everything that can be wrong with a put, before any data move; throws `Error` naming `what`.
void check_put(const char* what, const Source& from, const Region& to, int pe);
/// `put_signal` with the word at `word_offset` of the tensor's own block.
Token put_signal_tile(const Source& from, const Region& to, int pe, std::size_t word_offset,
                      std::uint64_t value, WordUpdate update, std::span<const Token> after);

}  // namespace tutti::detail
