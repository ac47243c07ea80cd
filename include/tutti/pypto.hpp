// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/order.hpp"
#include "tutti/pypto_operand.hpp"
#include "tutti/pypto_tensor.hpp"
#include "tutti/tile_signals.hpp"
#include "tutti/transfer.hpp"
#include "tutti/types.hpp"

/// The functions of `pypto.distributed` under their own names, for programs that are ported from
/// it; docs/porting.md is the table. Header-only, on Tutti's public functions, and to be mixed with
/// them: `put_op` and `sig_op` are `Update::Set` and `Update::Add`, `cmp` is a `Cmp`, `pred` is any
/// number of tokens at the end, `target_pe` may be `kAllPes`. Where the seed takes shape, offsets
/// and valid shape, these take a view.
///
/// Errors are `tutti::Error`, as those of the functions beneath, and arguments are always checked.
namespace tutti::pypto {

/// Whether a wait takes off the words what it has waited for.
enum class ClearSignal : bool { No, Yes };

namespace detail {

template <class U>
concept UpdateTag = std::same_as<U, Update::SetTag> || std::same_as<U, Update::AddTag>;

inline int my_pe(const View<std::byte>& slots) {
  return tutti::detail::team_of(*tutti::detail::region_of(slots).tensor).pe();
}

}  // namespace detail

/// My number in the group.
inline int my_symbolic_pe(const Team& group) noexcept { return group.pe(); }
inline int my_symbolic_pe(const Groups& groups, const std::string& group_name) {
  return groups.team(group_name).pe();
}

/// Makes a tensor with its signals. Collective over the group; all elements and words are zero on
/// return. `shape`: 1 to 4 dimensions; `tile`: the seed's `set_vec_tile_shapes`, here a property of
/// the tensor (default: one tile). The words take 9 bytes for each PE of the group and tile.
/// Errors, the same on all PEs: as `make_tensor`. A group that does not fit in memory is refused;
/// nothing is ever given out twice.
template <Symmetric T>
Tensor<T> create_shmem_tensor(const Team& group, const Extents& shape, const Tile& tile = {}) {
  ShmemTensor<T> data = make_tensor<T>(group, shape, tile);
  if (shape.dims() == Extents::kMaxDims) {
    throw Error(ErrorCode::InvalidArgument,
                "create_shmem_tensor: 5 dimensions; allowed are 1 to 4");
  }
  Extents grid = data.shape();
  for (std::size_t d = 0; d < grid.dims(); ++d) {
    grid[d] = (grid[d] + data.tile()[d] - 1) / data.tile()[d];
  }
  return Tensor<T>(std::move(data), detail::make_slots(group, grid));
}
template <Symmetric T>
Tensor<T> create_shmem_tensor(const Groups& groups, const std::string& group_name, int n_pes,
                              const Extents& shape, const Tile& tile = {}) {
  return create_shmem_tensor<T>(groups.team(group_name, n_pes), shape, tile);
}

/// Makes signals without data. Collective over the group; otherwise as above.
inline SignalTensor create_shmem_signal(const Team& group) {
  return SignalTensor(detail::make_slots(group, Extents(1)));
}
inline SignalTensor create_shmem_signal(const Groups& groups, const std::string& group_name,
                                        int n_pes) {
  return create_shmem_signal(groups.team(group_name, n_pes));
}

/// The sub-block [offsets, offsets + shape) of data and signals; data functions touch only its
/// first `valid_shape` extents. (The seed's order of arguments: shape first.)
/// Errors (here): `InvalidArgument` unless it lies inside the tensor.
template <Symmetric T>
TensorView<T> shmem_view(const Tensor<T>& src, const Extents& shape, const Extents& offsets) {
  return {src.view(offsets, shape), src.all_slots()};
}
template <Symmetric T>
TensorView<T> shmem_view(const Tensor<T>& src, const Extents& shape, const Extents& offsets,
                         const Extents& valid_shape) {
  return {src.view(offsets, shape, valid_shape), src.all_slots()};
}

/// `tutti::put`: writes `src`, or adds it (atomically for each element, in no promised order; also
/// f16 and bf16 into f32), to PE `dst_pe`'s instance of `dst`, a tensor or view. `src`: a range of
/// as many elements as `dst` has valid ones, or a view of my own instance.
template <class Src, tutti::detail::Viewable Dst, detail::UpdateTag U, OneToken... After>
Token shmem_put(const Src& src, const Dst& dst, int dst_pe, U put_op,
                const After&... pred) requires requires {
  put(src, dst, dst_pe, put_op, pred...);
}
{ return put(src, dst, dst_pe, put_op, pred...); }

/// `tutti::get`: reads PE `src_pe`'s instance of `src` into `dst`.
template <tutti::detail::Viewable Src, SinkOf<tutti::detail::ElementIn<Src>> Dst, OneToken... After>
Token shmem_get(const Src& src, int src_pe, Dst&& dst, const After&... pred) {
  return get(src, src_pe, dst, pred...);
}
/// The same into a new vector: the valid part, packed.
template <tutti::detail::Viewable Src, OneToken... After>
std::vector<tutti::detail::ElementIn<Src>> shmem_get(const Src& src, int src_pe,
                                                     const After&... pred) {
  std::vector<tutti::detail::ElementIn<Src>> dst(tutti::detail::as_view(src).size());
  get(src, src_pe, dst, pred...);
  return dst;
}
/// The same from f32, rounded to nearest-even: `shmem_get<bf16>(sums, pe)`.
template <class To, tutti::detail::Viewable Src, OneToken... After>
requires(std::same_as<tutti::detail::ElementIn<Src>, float> &&
         (std::same_as<To, f16> ||
          std::same_as<To, bf16>)) std::vector<To> shmem_get(const Src& src, int src_pe,
                                                             const After&... pred) {
  std::vector<To> dst;
  for (const float value : shmem_get(src, src_pe, pred...)) {
    if constexpr (std::same_as<To, f16>) {
      dst.push_back(to_f16(value));
    } else {
      dst.push_back(to_bf16(value));
    }
  }
  return dst;
}

/// Sets (or adds `value` to) the words of all tiles of `src` in namespace `src_pe`, at PE
/// `target_pe` or, with `kAllPes`, at everyone's, mine included. Whoever sees it sees all that this
/// PE put to that target before, and what `pred` stands for, wherever that went.
template <Signalled S, detail::UpdateTag U, OneToken... After>
Token shmem_signal(const S& src, int src_pe, std::uint64_t value, int target_pe, U sig_op,
                   const After&... pred) {
  return signal(src.slots(src_pe), target_pe, value, sig_op, pred...);
}

/// Blocks until my own words of all tiles of `src` in namespace `src_pe` compare true with `value`,
/// each at some time. Any comparison; words are unsigned, 64 bits wide.
///
/// `ClearSignal::Yes` then takes off each word the least that satisfies the wait: `value` for Eq
/// and Ge, `value + 1` for Gt. What was added since stays: Ge with clear consumes counts and loses
/// none. With Ne, Lt and Le it sets 0. A word that is SET while it is being cleared is spoiled.
///
/// Hazard, the seed's: Eq is overshot if someone adds the next round's count before this PE has
/// looked, and then never holds again. Rounds that ADD and wait for Eq need a barrier in between;
/// without one use Ge and words that grow (no clear), or Ge with clear and one raiser.
/// Errors: those of waits, for instance `Timeout` (`Options::timeout`) after an overshoot.
template <Signalled S, OneToken... After>
Token shmem_wait_until(const S& src, int src_pe, Cmp cmp, std::uint64_t value,
                       ClearSignal clear_signal = ClearSignal::No, const After&... pred) {
  const View<std::byte> slots = src.slots(src_pe);
  wait_until(slots, cmp, value, pred...);
  if (clear_signal == ClearSignal::No) return {};
  const int me = detail::my_pe(slots);
  if (cmp == Cmp::Eq || cmp == Cmp::Ge || cmp == Cmp::Gt) {
    const std::uint64_t least = value + (cmp == Cmp::Gt ? 1 : 0);
    return signal(slots, me, ~least + 1, Update::Add);  // unsigned: adds -least
  }
  return signal(slots, me, 0, Update::Set);
}

/// Zeroes `src`, a tensor or view, in my own instance. Peers learn of it through a barrier.
template <tutti::detail::Viewable V>
void shmem_clear_data(const V& src) {
  clear(src);
}

/// Zeroes all my own words of a tensor, in all namespaces. Peers learn of it through a barrier.
template <class S>
void shmem_clear_signal(const S& src) requires requires {
  src.all_slots();
}
{ signal(src.all_slots(), detail::my_pe(src.all_slots()), 0, Update::Set); }

/// `Team::barrier` of its group: blocks until all PEs have called; shows what they did before. All
/// that this PE started there before is complete: no `pred` is needed, and no word is touched.
template <class S>
void shmem_barrier_all(const S& src) requires requires {
  src.all_slots();
}
{ src.team().barrier(); }

}  // namespace tutti::pypto
