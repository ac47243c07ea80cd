// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/order.hpp"
#include "tutti/signals.hpp"
#include "tutti/tensor.hpp"

namespace tutti {

/// A word that its owner waits on.
template <class W>
concept WaitableWord = std::same_as<W, Signal> || std::same_as<W, Counter> ||
    std::same_as<W, WordRef<detail::WordKind::Atomic>>;

/// Words to wait on together: `Signals`, `Counters`, `Atomics`, or a vector or span of theirs.
template <class R>
concept WordRange = requires(const R& range, std::size_t i) {
  { range.size() } -> std::convertible_to<std::size_t>;
  requires WaitableWord<std::remove_cvref_t<decltype(range[i])>>;
};

namespace detail {

/// A `WordRange` with its type erased.
struct WordSet {
  const void* range;
  std::size_t size;
  WordAt (*at)(const void* range, std::size_t index);
};
template <WordRange R>
WordSet set_of(const R& range) noexcept {
  return {&range, range.size(), [](const void* erased, std::size_t index) {
            return (*static_cast<const R*>(erased))[index].at();
          }};
}

TUTTI_API void wait_until(const WordAt& word, Cmp cmp, std::uint64_t value,
                          std::chrono::milliseconds timeout, std::span<const Token> after);
TUTTI_API bool test(const WordAt& word, Cmp cmp, std::uint64_t value);
TUTTI_API void await(const WordAt& word, int pe, std::uint64_t value,
                     std::chrono::milliseconds timeout);
TUTTI_API bool test_published(const WordAt& word, int pe, std::uint64_t value);
TUTTI_API std::size_t wait_any(const WordSet& set, Cmp cmp, std::uint64_t value,
                               std::chrono::milliseconds timeout);
TUTTI_API void wait_all(const WordSet& set, Cmp cmp, std::uint64_t value,
                        std::chrono::milliseconds timeout);
TUTTI_API std::optional<std::size_t> test_any(const WordSet& set, Cmp cmp, std::uint64_t value);
TUTTI_API bool test_all(const WordSet& set, Cmp cmp, std::uint64_t value);
TUTTI_API std::vector<std::size_t> test_some(const WordSet& set, Cmp cmp, std::uint64_t value);

}  // namespace detail

/// Blocks until my own `word` compares true with `value`; what the word announces may then be read.
/// Sleeps if it takes long, and drives all transfers of this PE meanwhile. For words that count,
/// `Cmp::Ge` misses nothing; `Cmp::Eq` hangs if the word was raised twice in between.
/// `timeout` (all waits): 0 = the team's (`Options::timeout`).
/// Errors (all waits): `Timeout`, after which the team stays usable; `PeerFailed` if nobody can
/// raise the word any more.
template <WaitableWord W, OneToken... After>
Token wait_until(W word, Cmp cmp, std::uint64_t value, const After&... after) {
  detail::wait_until(word.at(), cmp, value, {}, detail::tokens(after...));
  return {};
}
template <WaitableWord W, OneToken... After>
Token wait_until(W word, Cmp cmp, std::uint64_t value, std::chrono::milliseconds timeout,
                 const After&... after) {
  detail::wait_until(word.at(), cmp, value, timeout, detail::tokens(after...));
  return {};
}
/// The same, and returns what it announced: `view` of my own instance, for reading.
template <WaitableWord W, detail::Viewable V, OneToken... After>
ReadableView<detail::ElementIn<V>> wait_until(W word, const V& view, Cmp cmp, std::uint64_t value,
                                              const After&... after) {
  detail::wait_until(word.at(), cmp, value, {}, detail::tokens(after...));
  return ReadableView<detail::ElementIn<V>>(detail::region_of(view));
}

/// Whether `wait_until` would return; does not block, and drives transfers. A loop around it ends
/// with an `Error` too when a peer fails.
template <WaitableWord W>
bool test(W word, Cmp cmp, std::uint64_t value) {
  return detail::test(word.at(), cmp, value);
}

/// Blocks until PE `pe` has published `value` or more.
/// Errors: `InvalidArgument` (here) for a PE that the team does not have.
inline Token await(PublishedWord word, int pe, std::uint64_t value,
                   std::chrono::milliseconds timeout = {}) {
  detail::await(word.at(), pe, value, timeout);
  return {};
}
inline bool test(PublishedWord word, int pe, std::uint64_t value) {
  return detail::test_published(word.at(), pe, value);
}

/// Blocks until one of my words compares true; returns its index, the lowest one if there are more.
/// The words belong to one team.
/// Errors: `InvalidArgument` for no words at all, or words of several teams.
template <WordRange R>
std::size_t wait_any(const R& words, Cmp cmp, std::uint64_t value,
                     std::chrono::milliseconds timeout = {}) {
  return detail::wait_any(detail::set_of(words), cmp, value, timeout);
}
/// Blocks until all compare true, each at some time; at once for no words.
template <WordRange R>
void wait_all(const R& words, Cmp cmp, std::uint64_t value,
              std::chrono::milliseconds timeout = {}) {
  detail::wait_all(detail::set_of(words), cmp, value, timeout);
}
/// Blocks like `wait_any`; returns the indices of all that compare true, ascending.
template <WordRange R>
std::vector<std::size_t> wait_some(const R& words, Cmp cmp, std::uint64_t value,
                                   std::chrono::milliseconds timeout = {}) {
  detail::wait_any(detail::set_of(words), cmp, value, timeout);
  return detail::test_some(detail::set_of(words), cmp, value);
}
/// The forms that do not block. For no words: nothing, true, nothing.
template <WordRange R>
std::optional<std::size_t> test_any(const R& words, Cmp cmp, std::uint64_t value) {
  return detail::test_any(detail::set_of(words), cmp, value);
}
template <WordRange R>
bool test_all(const R& words, Cmp cmp, std::uint64_t value) {
  return detail::test_all(detail::set_of(words), cmp, value);
}
template <WordRange R>
std::vector<std::size_t> test_some(const R& words, Cmp cmp, std::uint64_t value) {
  return detail::test_some(detail::set_of(words), cmp, value);
}

}  // namespace tutti
