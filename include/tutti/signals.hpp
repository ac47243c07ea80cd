// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "tutti/export.hpp"
#include "tutti/order.hpp"
#include "tutti/team.hpp"

namespace tutti {

namespace detail {

class Block;
class TeamState;

enum class WordKind : std::uint8_t { Signal, Counter, Published, Atomic };

/// Symmetric 64-bit words of a team, each alone on its line.
struct WordsState {
  std::shared_ptr<TeamState> team;
  std::shared_ptr<Block> block;
  std::size_t count = 0;
};

/// One word of every instance of a `WordsState`.
struct WordAt {
  const WordsState* words = nullptr;
  std::size_t index = 0;
};

TUTTI_API std::shared_ptr<const WordsState> make_words(const Team& team, std::size_t count,
                                                       WordKind kind);
TUTTI_API Team team_of(const WordsState& words);
[[noreturn]] TUTTI_API void refuse_word(const WordsState& words, std::size_t index);
TUTTI_API std::uint64_t word_value(const WordAt& word, int pe);
TUTTI_API Token raise(const WordAt& word, int pe, std::uint64_t value, WordUpdate update,
                      std::span<const Token> after);
TUTTI_API Token publish(const WordAt& word, std::uint64_t value, std::span<const Token> after);
TUTTI_API void clear_word(const WordAt& word) noexcept;

}  // namespace detail

/// A word of every PE's instance of `Signals`, `Counters` or `PublishedWords`; which PE's is said
/// where it is used. A small value; does not keep the words alive.
template <detail::WordKind kKind>
class WordRef {
 public:
  explicit WordRef(detail::WordAt at) noexcept : at_(at) {}
  const detail::WordAt& at() const noexcept { return at_; }

  /// The word of my own instance, now. What its value announces may be read.
  std::uint64_t value() const requires(kKind != detail::WordKind::Published) {
    return detail::word_value(at_, kMe);
  }
  /// What PE `pe` published, as far as it has come here.
  std::uint64_t value(int pe) const requires(kKind == detail::WordKind::Published) {
    return detail::word_value(at_, pe);
  }

 private:
  static constexpr int kMe = -1;
  detail::WordAt at_;
};

/// A word that one peer sets and its owner waits on.
using Signal = WordRef<detail::WordKind::Signal>;
/// A word that many add to and its owner waits on.
using Counter = WordRef<detail::WordKind::Counter>;
/// A word that its owner writes and all others poll.
using PublishedWord = WordRef<detail::WordKind::Published>;

/// Symmetric words of one kind: an instance of each on every PE of the team, 0 when made.
/// Move-only; destroyed like a tensor, locally and in any order.
template <detail::WordKind kKind>
class Words {
 public:
  explicit Words(std::shared_ptr<const detail::WordsState> state) noexcept
      : state_(std::move(state)) {}
  Words(Words&&) noexcept = default;
  Words& operator=(Words&&) noexcept = default;
  ~Words() = default;

  std::size_t size() const noexcept { return state_->count; }
  Team team() const { return detail::team_of(*state_); }
  /// Errors: `InvalidArgument` unless index < size().
  WordRef<kKind> operator[](std::size_t index) const {
    if (index >= state_->count) [[unlikely]] {
      detail::refuse_word(*state_, index);
    }
    return WordRef<kKind>({state_.get(), index});
  }

 private:
  std::shared_ptr<const detail::WordsState> state_;
};
using Signals = Words<detail::WordKind::Signal>;
using Counters = Words<detail::WordKind::Counter>;
using Published = Words<detail::WordKind::Published>;

/// Make `count` words, equal on all PEs. Collective over `team` (calls of lane 0); blocks until all
/// PEs have called; all words are 0 before anyone returns.
/// Errors, the same on all PEs, after which the team stays usable: `InvalidArgument` if counts
/// differ; `OutOfMemory`.
inline Signals make_signals(const Team& team, std::size_t count) {
  return Signals(detail::make_words(team, count, detail::WordKind::Signal));
}
inline Counters make_counters(const Team& team, std::size_t count) {
  return Counters(detail::make_words(team, count, detail::WordKind::Counter));
}
inline Published make_published(const Team& team, std::size_t count) {
  return Published(detail::make_words(team, count, detail::WordKind::Published));
}

/// Sets PE `pe`'s word, or everyone's (my own included) with `kAllPes`. Whoever sees the value sees
/// all that this PE put to that target before, also with zero bytes. Does not block unless a token
/// in `after` is of a transfer through a transport.
/// Errors: `InvalidArgument` (here) for a PE that the team does not have; the error that
/// ended the team, if it failed before.
template <OneToken... After>
Token signal(Signal word, int pe, std::uint64_t value, Update::SetTag, const After&... after) {
  return detail::raise(word.at(), pe, value, detail::WordUpdate::Set, detail::tokens(after...));
}
/// Adds to PE `pe`'s counter, or to everyone's; atomic, otherwise as above.
template <OneToken... After>
Token signal(Counter word, int pe, std::uint64_t value, Update::AddTag, const After&... after) {
  return detail::raise(word.at(), pe, value, detail::WordUpdate::Add, detail::tokens(after...));
}

/// Sets my own published word: one store tells everyone who polls it. Values only grow. Whoever
/// awaits it sees all that this PE wrote to its own instances, or put to that PE, before.
template <OneToken... After>
Token publish(PublishedWord word, std::uint64_t value, const After&... after) {
  return detail::publish(word.at(), value, detail::tokens(after...));
}

/// Sets my own word to 0; local. A peer that raises it at the same time is lost or not: words that
/// only grow and are awaited with `Cmp::Ge` need no clear.
inline void clear(Signal word) noexcept { detail::clear_word(word.at()); }
inline void clear(Counter word) noexcept { detail::clear_word(word.at()); }

}  // namespace tutti
