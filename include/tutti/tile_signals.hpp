// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tutti/export.hpp"
#include "tutti/order.hpp"
#include "tutti/tensor.hpp"
#include "tutti/transfer.hpp"
#include "tutti/view.hpp"
#include "tutti/wait.hpp"

/// Signals that a tensor brings along, one word a tile (`signals::one`) or one a tile for each PE
/// that raises it (`signals::per_source`). The words are dense; those of two sources share no line.
/// A consumer works on one tile while the next is in flight by waiting tile by tile.
///
/// Views that are signalled or waited for consist of whole tiles, else `InvalidArgument` (here), as
/// for a tensor without such signals. Other errors as for words of their own.

namespace tutti {

namespace detail {
TUTTI_API Token signal_tiles(const Region& region, int pe, std::uint64_t value, WordUpdate update,
                             std::span<const Token> after);
TUTTI_API Token put_signal_tiles(const Source& from, const Region& to, int pe, std::uint64_t value,
                                 WordUpdate update, std::span<const Token> after);
TUTTI_API void wait_tiles(const Region& region, int source, Cmp cmp, std::uint64_t value,
                          std::chrono::milliseconds timeout, std::span<const Token> after);
TUTTI_API bool test_tiles(const Region& region, int source, Cmp cmp, std::uint64_t value);
inline constexpr int kNoSource = -1;
}  // namespace detail

/// Sets (or adds `value` to) the words of all tiles of `view` at PE `pe`, or at everyone's with
/// `kAllPes`. With `signals::per_source` they are my words there, with `signals::one` all PEs'.
template <detail::Viewable V, OneToken... After>
Token signal(const V& view, int pe, std::uint64_t value, Update::SetTag, const After&... after) {
  return detail::signal_tiles(detail::region_of(view), pe, value, detail::WordUpdate::Set,
                              detail::tokens(after...));
}
template <detail::Viewable V, OneToken... After>
Token signal(const V& view, int pe, std::uint64_t value, Update::AddTag, const After&... after) {
  return detail::signal_tiles(detail::region_of(view), pe, value, detail::WordUpdate::Add,
                              detail::tokens(after...));
}

/// `put`, then the same: whoever sees a tile's word sees the tile.
template <detail::Viewable Dst, SourceOf<detail::ElementIn<Dst>> Src, OneToken... After>
Token put_signal(const Src& src, const Dst& dst, int pe, std::uint64_t value, Update::SetTag,
                 const After&... after) {
  return detail::put_signal_tiles(detail::source_of(src), detail::region_of(dst), pe, value,
                                  detail::WordUpdate::Set, detail::tokens(after...));
}
template <detail::Viewable Dst, SourceOf<detail::ElementIn<Dst>> Src, OneToken... After>
Token put_signal(const Src& src, const Dst& dst, int pe, std::uint64_t value, Update::AddTag,
                 const After&... after) {
  return detail::put_signal_tiles(detail::source_of(src), detail::region_of(dst), pe, value,
                                  detail::WordUpdate::Add, detail::tokens(after...));
}

/// Blocks until the words of all tiles of `view` in my own instance compare true; returns it for
/// reading. `signals::one`.
template <detail::Viewable V, OneToken... After>
ReadableView<detail::ElementIn<V>> wait_until(const V& view, Cmp cmp, std::uint64_t value,
                                              const After&... after) {
  detail::wait_tiles(detail::region_of(view), detail::kNoSource, cmp, value, {},
                     detail::tokens(after...));
  return ReadableView<detail::ElementIn<V>>(detail::region_of(view));
}
/// The same for the words that PE `source` raises. `signals::per_source`.
template <detail::Viewable V, OneToken... After>
ReadableView<detail::ElementIn<V>> wait_until(const V& view, int source, Cmp cmp,
                                              std::uint64_t value, const After&... after) {
  detail::wait_tiles(detail::region_of(view), source, cmp, value, {}, detail::tokens(after...));
  return ReadableView<detail::ElementIn<V>>(detail::region_of(view));
}

/// Whether the wait would return; does not block.
template <detail::Viewable V>
bool test(const V& view, Cmp cmp, std::uint64_t value) {
  return detail::test_tiles(detail::region_of(view), detail::kNoSource, cmp, value);
}
template <detail::Viewable V>
bool test(const V& view, int source, Cmp cmp, std::uint64_t value) {
  return detail::test_tiles(detail::region_of(view), source, cmp, value);
}

}  // namespace tutti
