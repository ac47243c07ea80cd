// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "tutti/error.hpp"
#include "tutti/shape.hpp"
#include "tutti/team.hpp"
#include "tutti/tensor.hpp"
#include "tutti/tile_signals.hpp"
#include "tutti/view.hpp"

/// The objects of `tutti/pypto.hpp`: groups by name, tensors with their signal companion, views.
namespace tutti::pypto {

/// The groups of PEs that a program calls by name: any number of them, also overlapping ones. A
/// table of this PE, filled before it is used; not thread-safe.
class Groups {
 public:
  /// Errors (here): `InvalidArgument` for an empty name, or one that stands for another team.
  void add(const std::string& name, const Team& team) {
    if (name.empty()) throw Error(ErrorCode::InvalidArgument, "the name of a group is empty");
    const Team& found = teams_.try_emplace(name, team).first->second;
    if (&found.state() == &team.state()) return;
    throw Error(ErrorCode::InvalidArgument, "group \"" + name + "\" stands for team " +
                                                found.name() + ", not for " + team.name());
  }
  /// Errors (here): `InvalidArgument` with the names there are.
  const Team& team(const std::string& name) const {
    const auto at = teams_.find(name);
    if (at != teams_.end()) return at->second;
    std::string text = "there is no group \"" + name + "\"; groups:";
    for (const auto& each : teams_) text += " \"" + each.first + "\"";
    throw Error(ErrorCode::InvalidArgument, text);
  }
  /// The same, and `InvalidArgument` unless the group has `n_pes` members.
  const Team& team(const std::string& name, int n_pes) const {
    const Team& found = team(name);
    if (found.size() == n_pes) return found;
    throw Error(ErrorCode::InvalidArgument, "group \"" + name + "\" has " +
                                                std::to_string(found.size()) + " PEs, n_pes is " +
                                                std::to_string(n_pes));
  }

 private:
  std::map<std::string, Team> teams_;
};

namespace detail {

/// [namespaces, tiles...]: one word for each element. (The bytes carry nothing: words belong to a
/// tensor.)
using Slots = ShmemTensor<std::byte>;

/// {first, rest...}
inline Extents joined(std::size_t first, const Extents& rest) {
  std::array<std::size_t, Extents::kMaxDims + 1> numbers{first};
  std::copy(rest.begin(), rest.end(), numbers.begin() + 1);
  return Extents(std::span<const std::size_t>(numbers.data(), rest.dims() + 1));
}

inline Extents filled(Extents like, std::size_t value) {
  for (std::size_t d = 0; d < like.dims(); ++d) like[d] = value;
  return like;
}

/// Collective. `grid`: tiles in each of at most 4 dimensions.
inline Slots make_slots(const Team& team, const Extents& grid) {
  const Extents shape = joined(static_cast<std::size_t>(team.size()), grid);
  return make_tensor<std::byte>(team, shape, Tile{filled(shape, 1)}, {.signals = signals::one});
}

/// The words of namespace `src_pe` for `count` tiles from `first` on.
inline View<std::byte> slots_of(const View<std::byte>& all, int src_pe, const Extents& first,
                                const Extents& count) {
  const std::size_t namespaces = all.shape()[0];
  const auto at = static_cast<std::size_t>(src_pe);
  if (at >= namespaces) {
    throw Error(ErrorCode::InvalidArgument, "signals: there is no src_pe " +
                                                std::to_string(src_pe) + "; allowed are 0 to " +
                                                std::to_string(namespaces - 1));
  }
  const Extents shape = joined(1, count);
  return View<std::byte>(tutti::detail::make_region(*tutti::detail::region_of(all).tensor,
                                                    joined(at, first), shape, shape));
}

inline std::string text_of(const Extents& extents) {
  std::string text;
  for (const std::size_t number : extents) {
    text += (text.empty() ? "{" : ", ") + std::to_string(number);
  }
  return text + "}";
}

/// The same for the tiles that a view consists of.
inline View<std::byte> slots_of(const View<std::byte>& all, int src_pe,
                                const tutti::detail::Region& region) {
  const Extents& tile = region.tensor->tile;
  Extents first = region.offsets;
  Extents count = region.shape;
  for (std::size_t d = 0; d < tile.dims(); ++d) {
    const std::size_t end = region.offsets[d] + region.shape[d];
    if (region.offsets[d] % tile[d] != 0 ||
        (end % tile[d] != 0 && end != region.tensor->shape[d])) {
      throw Error(ErrorCode::InvalidArgument, "signals: offsets " + text_of(region.offsets) +
                                                  ", shape " + text_of(region.shape) +
                                                  " are not whole tiles of " + text_of(tile));
    }
    first[d] = region.offsets[d] / tile[d];
    count[d] = (region.shape[d] + tile[d] - 1) / tile[d];
  }
  return slots_of(all, src_pe, first, count);
}

}  // namespace detail

/// A sub-block of every instance of a `Tensor`, with the signals of its tiles. Small; does not keep
/// the tensor alive, and stays valid when that is moved. Tutti's functions take it as a `View`.
template <Symmetric T>
class TensorView : public View<T> {
 public:
  TensorView(const View<T>& data, const View<std::byte>& slots) noexcept
      : View<T>(data), slots_(slots) {}

  /// The words of its tiles in namespace `src_pe`.
  /// Errors (here): `InvalidArgument` for a namespace that the group does not have, and unless the
  /// view consists of whole tiles.
  View<std::byte> slots(int src_pe) const {
    return detail::slots_of(slots_, src_pe, tutti::detail::region_of<T>(*this));
  }

 private:
  View<std::byte> slots_;
};

/// A symmetric tensor with its signal companion: on every PE an instance, and a word for each
/// namespace (0 to n_pes - 1: the seed's first index, "whose instance is it about") and tile. The
/// tile grid is the tensor's own, given once: signal and wait cannot disagree about it. Tutti's
/// functions take it as the `ShmemTensor` that it is.
template <Symmetric T>
class Tensor : public ShmemTensor<T> {
 public:
  Tensor(ShmemTensor<T> data, detail::Slots slots) noexcept
      : ShmemTensor<T>(std::move(data)), slots_(std::move(slots)) {}

  View<std::byte> slots(int src_pe) const { return whole().slots(src_pe); }
  View<std::byte> all_slots() const noexcept { return slots_.view(); }
  TensorView<T> whole() const noexcept { return {this->view(), slots_.view()}; }

 private:
  detail::Slots slots_;
};

/// Signals without data: one word for each namespace.
class SignalTensor {
 public:
  explicit SignalTensor(detail::Slots slots) noexcept : slots_(std::move(slots)) {}

  Team team() const { return slots_.team(); }
  View<std::byte> slots(int src_pe) const {
    return detail::slots_of(slots_.view(), src_pe, Extents(0), Extents(1));
  }
  View<std::byte> all_slots() const noexcept { return slots_.view(); }

 private:
  detail::Slots slots_;
};

/// What can be signalled and waited for: `Tensor`, `TensorView`, `SignalTensor`.
template <class S>
concept Signalled = requires(const S& signalled) {
  { signalled.slots(0) } -> std::same_as<View<std::byte>>;
};

}  // namespace tutti::pypto
