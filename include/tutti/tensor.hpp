// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "tutti/export.hpp"
#include "tutti/shape.hpp"
#include "tutti/team.hpp"
#include "tutti/view.hpp"

namespace tutti {

struct TensorOptions {
  TileSignals signals = signals::none;
  std::size_t alignment = 64;  ///< bytes, of each instance: a power of two, 64 to 4096 (a page)
};

namespace detail {
TUTTI_API std::shared_ptr<const TensorState> make_tensor(const Team& team, const Extents& shape,
                                                         const Tile& tile,
                                                         const TensorOptions& options,
                                                         std::size_t element_bytes);
TUTTI_API std::byte* unsafe_peer(const TensorState& tensor, int pe);
TUTTI_API Team team_of(const TensorState& tensor);
}  // namespace detail

/// What a symmetric tensor may hold.
template <class T>
concept Symmetric =
    std::is_trivially_copyable_v<T> && alignof(T) <= 64 && std::is_same_v<T, std::remove_cv_t<T>>;

/// A symmetric tensor: one instance of the same shape on every PE of a team, row-major, zeroed when
/// made. Owns this PE's part of it and keeps the team alive.
///
/// Invariants: (1) instances begin at a multiple of 64 bytes (or more, see `TensorOptions`), not at
/// the same address on each PE; (2) the destructor is local and never waits, in any order, also
/// after an exception; the memory is used again once all PEs have let go; (3) moving the handle
/// moves no data, and views stay valid. A handle that was moved from may only be destroyed or
/// assigned to. Thread safety: as a `std::vector`; who touches which element when is ordered by
/// signals.
template <Symmetric T>
class ShmemTensor {
 public:
  explicit ShmemTensor(std::shared_ptr<const detail::TensorState> state) noexcept
      : state_(std::move(state)) {}
  ShmemTensor(ShmemTensor&&) noexcept = default;
  ShmemTensor& operator=(ShmemTensor&&) noexcept = default;
  ~ShmemTensor() = default;

  const Extents& shape() const noexcept { return state_->shape; }
  const Extents& tile() const noexcept { return state_->tile; }
  /// Elements of one instance.
  std::size_t size() const noexcept { return state_->elements; }
  Team team() const { return detail::team_of(*state_); }

  /// My instance. Peers may write to it: read what a signal has announced.
  std::span<T> local() noexcept { return {reinterpret_cast<T*>(state_->local), size()}; }
  std::span<const T> local() const noexcept {
    return {reinterpret_cast<const T*>(state_->local), size()};
  }
  /// PE `pe`'s instance, or nullptr if it is not reached by load and store. Nothing here orders
  /// what is read or written through it.
  /// Errors: `InvalidArgument` for a PE that the team does not have.
  T* unsafe_peer(int pe) const { return reinterpret_cast<T*>(detail::unsafe_peer(*state_, pe)); }

  /// The sub-block [offsets, offsets + shape) of every instance; put and get touch only its first
  /// `valid` extents (default: all of `shape`). The tensor must outlive the view.
  /// Errors: `InvalidArgument` (on this PE) if it does not lie inside the tensor.
  View<T> view(const Extents& offsets, const Extents& shape) const {
    return View<T>(*state_, offsets, shape, shape);
  }
  View<T> view(const Extents& offsets, const Extents& shape, const Extents& valid) const {
    return View<T>(*state_, offsets, shape, valid);
  }
  /// All of it.
  View<T> view() const noexcept { return View<T>(state_->whole); }
  operator View<T>() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)

  const detail::Block& block() const noexcept { return *state_->block; }
  const detail::Region& region() const noexcept { return state_->whole; }

 private:
  std::shared_ptr<const detail::TensorState> state_;
};

namespace detail {

template <class T>
const View<T>& as_view(const View<T>& view) noexcept {
  return view;
}
template <class T>
View<T> as_view(const ShmemTensor<T>& tensor) noexcept {
  return tensor.view();
}
template <class T>
const Region& region_of(const ShmemTensor<T>& tensor) noexcept {
  return tensor.region();
}
template <class T>
T element_of(const View<T>&);

/// A view, or a tensor, which stands for all of it.
template <class V>
concept Viewable = requires(const V& view) {
  as_view(view);
};
template <Viewable V>
using ElementIn = decltype(element_of(as_view(std::declval<const V&>())));

}  // namespace detail

/// Makes a symmetric tensor. Collective over `team` (a call of lane 0); blocks until all PEs have
/// called; every instance is zeroed before anyone returns. `shape`: 1 to 5 dimensions, any of them
/// may be 0; `tile`: as many dimensions, each at least 1 (default: the whole tensor). Shape, tile,
/// options and element size must be equal on all PEs.
/// Errors, the same on all PEs, after which the team stays usable: `InvalidArgument` naming the
/// first PE that disagrees and both shapes; `OutOfMemory` with what is wanted, free and the limit.
template <Symmetric T>
ShmemTensor<T> make_tensor(const Team& team, const Extents& shape, const Tile& tile = {},
                           const TensorOptions& options = {}) {
  return ShmemTensor<T>(detail::make_tensor(team, shape, tile, options, sizeof(T)));
}

}  // namespace tutti
