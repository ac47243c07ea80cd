// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "tutti/export.hpp"
#include "tutti/order.hpp"
#include "tutti/signals.hpp"
#include "tutti/team.hpp"
#include "tutti/tensor.hpp"
#include "tutti/types.hpp"

namespace tutti {

namespace detail {

/// What a put reads on this PE: a contiguous range, or a sub-block of my own instance.
struct Source {
  const std::byte* data = nullptr;
  std::size_t elements = 0;
  const Region* region = nullptr;
};
/// What a get fills on this PE.
struct Sink {
  std::byte* data = nullptr;
  std::size_t elements = 0;
  const Region* region = nullptr;
};
/// The element types of an addition.
struct Addition {
  DType to;
  DType from;
};

TUTTI_API Token put(const Source& from, const Region& to, int pe, std::span<const Token> after);
TUTTI_API Token put_add(const Source& from, const Region& to, const Addition& types, int pe,
                        std::span<const Token> after);
TUTTI_API Token put_signal(const Source& from, const Region& to, const WordAt& word, int pe,
                           std::uint64_t value, WordUpdate update, std::span<const Token> after);
TUTTI_API Token get(const Region& from, int pe, const Sink& to, std::span<const Token> after);
TUTTI_API void clear(const Region& region);

template <class R, class T>
concept RangeOf = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::same_as<std::ranges::range_value_t<R>, T>;
template <class R>
concept RangeOfElements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::ranges::range_value_t<R>>;
template <class V, class T>
concept ViewOf = Viewable<V> && std::same_as<ElementIn<V>, T>;

template <class To, class From>
concept AddableFrom = Element<To> && Element<From> &&
    (std::same_as<To, From> ||
     (std::same_as<To, float> && (std::same_as<From, f16> || std::same_as<From, bf16>)));

template <std::ranges::contiguous_range R>
Source source_of(const R& range) noexcept {
  return {reinterpret_cast<const std::byte*>(std::ranges::data(range)), std::ranges::size(range)};
}
template <Viewable V>
Source source_of(const V& view) noexcept {
  const Region& region = region_of(view);
  return {nullptr, region.elements, &region};
}
template <std::ranges::contiguous_range R>
Sink sink_of(R&& range) noexcept {
  return {reinterpret_cast<std::byte*>(std::ranges::data(range)), std::ranges::size(range)};
}
template <Viewable V>
Sink sink_of(const V& view) noexcept {
  const Region& region = region_of(view);
  return {nullptr, region.elements, &region};
}

}  // namespace detail

/// What a put may read: a contiguous range of T, or a view (or tensor) of T of my own instance.
template <class S, class T>
concept SourceOf = detail::RangeOf<const S&, T> || detail::ViewOf<S, T>;
/// What a get may fill.
template <class S, class T>
concept SinkOf = detail::ViewOf<std::remove_cvref_t<S>, T> ||
    (detail::RangeOf<S, T> &&
     !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<S>>>);

/// Writes `src` into PE `pe`'s instance of `dst`, both in row-major order; contiguous runs move in
/// one piece. `src`: as many elements as `dst.valid()` has; does not overlap the destination.
/// On return `src` may be used again; the data are visible to whoever sees a signal raised at `pe`
/// by this PE afterwards. Two puts to one place take effect in the order of this PE only if a
/// signal or `fence` lies between, or the first one's token is the second one's `after`.
/// Errors, on this PE, before any data move (all transfers): `InvalidArgument` naming value,
/// allowed range and PE; `PeerFailed` and the like if the team failed before.
template <detail::Viewable Dst, SourceOf<detail::ElementIn<Dst>> Src, OneToken... After>
Token put(const Src& src, const Dst& dst, int pe, Update::SetTag, const After&... after) {
  return detail::put(detail::source_of(src), detail::region_of(dst), pe, detail::tokens(after...));
}
template <detail::Viewable Dst, SourceOf<detail::ElementIn<Dst>> Src, OneToken... After>
Token put(const Src& src, const Dst& dst, int pe, const After&... after) {
  return put(src, dst, pe, Update::Set, after...);
}

namespace detail {
template <class S>
struct SourceElement;
template <RangeOfElements R>
struct SourceElement<R> : std::type_identity<std::ranges::range_value_t<R>> {};
template <Viewable V>
struct SourceElement<V> : std::type_identity<ElementIn<V>> {};
template <class S, class T>
concept AddableSource = requires {
  typename SourceElement<S>::type;
}
&&AddableFrom<T, typename SourceElement<S>::type>;
}  // namespace detail

/// Adds `src` to PE `pe`'s instance of `dst`, element by element, each addition atomic: several PEs
/// may add to one place at once, in an order that nobody promises. Same type, or f16 or bf16 into
/// f32. Otherwise as above.
template <detail::Viewable Dst, detail::AddableSource<detail::ElementIn<Dst>> Src,
          OneToken... After>
Token put(const Src& src, const Dst& dst, int pe, Update::AddTag, const After&... after) {
  using From = typename detail::SourceElement<Src>::type;
  return detail::put_add(detail::source_of(src), detail::region_of(dst),
                         {dtype_of<detail::ElementIn<Dst>>, dtype_of<From>}, pe,
                         detail::tokens(after...));
}

/// `put`, then sets (or adds `value` to) PE `pe`'s `word`: whoever sees it sees these data, also if
/// there are none, and what earlier words of this PE announced there. It is the signal of this put
/// alone: the one that announces all earlier puts to `pe` is `signal`. Tensor and word are of one
/// team.
template <detail::Viewable Dst, SourceOf<detail::ElementIn<Dst>> Src, OneToken... After>
Token put_signal(const Src& src, const Dst& dst, Signal word, int pe, std::uint64_t value,
                 Update::SetTag, const After&... after) {
  return detail::put_signal(detail::source_of(src), detail::region_of(dst), word.at(), pe, value,
                            detail::WordUpdate::Set, detail::tokens(after...));
}
template <detail::Viewable Dst, SourceOf<detail::ElementIn<Dst>> Src, OneToken... After>
Token put_signal(const Src& src, const Dst& dst, Counter word, int pe, std::uint64_t value,
                 Update::AddTag, const After&... after) {
  return detail::put_signal(detail::source_of(src), detail::region_of(dst), word.at(), pe, value,
                            detail::WordUpdate::Add, detail::tokens(after...));
}

/// Reads PE `pe`'s instance of `src` into `dst`, a range or a view of my own instance; row-major
/// order on both sides. Blocks until `dst` is filled. What PEs put there before is seen as far as a
/// signal or barrier has said so. Slow where `pe` is not reached by load and store: it has to wait,
/// or call something, for the answer to come.
template <detail::Viewable Src, SinkOf<detail::ElementIn<Src>> Dst, OneToken... After>
Token get(const Src& src, int pe, Dst&& dst, const After&... after) {
  return detail::get(detail::region_of(src), pe, detail::sink_of(dst), detail::tokens(after...));
}

/// Puts of this PE before it take effect, at each target, before those after it. Does not block.
TUTTI_API void fence(const Team& team);
/// Blocks until all that this PE put and signalled to the team has taken effect there.
/// Errors: those of waits.
TUTTI_API void quiet(const Team& team);
/// Zeroes the view in my own instance; local. Peers learn of it through a barrier or signal.
template <detail::Viewable V>
void clear(const V& view) {
  detail::clear(detail::region_of(view));
}

}  // namespace tutti
