// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/export.hpp"
#include "tutti/signals.hpp"
#include "tutti/team.hpp"
#include "tutti/wait.hpp"

/// Read-modify-write operations on symmetric words: tickets, locks, work queues. Sources: OpenSHMEM
/// 1.5, section 9.8; C++20, [atomics.ref.ops].
///
/// All of them answer with the word's old value, block until it is there, are sequentially
/// consistent, and take effect after everything that this PE put to the target before. The owner
/// may wait on the word. Cost: one line transfer by load and store; a round trip by message
/// otherwise, for which the target has to wait or to call something. Errors, on this PE:
/// `InvalidArgument` for a PE that the team does not have; `PeerFailed` and the like if the team
/// failed.

namespace tutti {

namespace detail {
TUTTI_API std::uint64_t fetch(const WordAt& word, int pe);
TUTTI_API std::uint64_t fetch_add(const WordAt& word, int pe, std::uint64_t value);
TUTTI_API std::uint64_t swap(const WordAt& word, int pe, std::uint64_t value);
TUTTI_API std::uint64_t compare_exchange(const WordAt& word, int pe, std::uint64_t expected,
                                         std::uint64_t desired);
}  // namespace detail

/// A word that anyone reads and changes in one step, and its owner may wait on.
using AtomicWord = WordRef<detail::WordKind::Atomic>;
using Atomics = Words<detail::WordKind::Atomic>;

/// Make `count` words; as `make_signals`.
inline Atomics make_atomics(const Team& team, std::size_t count) {
  return Atomics(detail::make_words(team, count, detail::WordKind::Atomic));
}

/// PE `pe`'s word, now. What its value announces may be read.
template <WaitableWord W>
std::uint64_t fetch(W word, int pe) {
  return detail::fetch(word.at(), pe);
}
/// Adds to it; wraps around.
inline std::uint64_t fetch_add(AtomicWord word, int pe, std::uint64_t value) {
  return detail::fetch_add(word.at(), pe, value);
}
/// Replaces it.
inline std::uint64_t swap(AtomicWord word, int pe, std::uint64_t value) {
  return detail::swap(word.at(), pe, value);
}
/// Replaces it by `desired` if it is `expected`: if and only if that is what is returned.
inline std::uint64_t compare_exchange(AtomicWord word, int pe, std::uint64_t expected,
                                      std::uint64_t desired) {
  return detail::compare_exchange(word.at(), pe, expected, desired);
}

}  // namespace tutti
