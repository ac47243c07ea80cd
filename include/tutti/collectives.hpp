// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/team.hpp"
#include "tutti/tensor.hpp"
#include "tutti/tuning.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// What a single call may ask for; the last argument of every collective. Equal on all PEs.
struct Call {
  std::string_view algorithm =
      {};  ///< "two_shot" or "two_shot:chunk_bytes=64K"; empty = the tuner's
  Contract contract = Contract::Consistent;
  std::chrono::milliseconds timeout{0};  ///< 0 = the team's
  int lane = 0;                          ///< 0 to 3; one thread of a PE at a time on each lane
};

namespace detail {

struct Prepared;

/// A reduction of the program's own with its element type erased; see `UserOp`.
struct UserFold {
  /// acc[i] = acc[i] o next[i]
  void (*call)(const UserFold& self, void* acc, const void* next, std::size_t count) = nullptr;
  void (*function)() = nullptr;  ///< the program's, of a type that `call` knows
  const void* context = nullptr;
  std::size_t element_bytes = 1;
  bool commutative = true;
};

/// A caller's buffers with the element type erased. `count` as in `Problem`.
struct Buffers {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t in_elements = 0;
  std::size_t out_elements = 0;
  DType dtype = DType::F32;
  const Block* in_block = nullptr;  ///< not null: symmetric
  const Block* out_block = nullptr;
  std::span<const std::size_t> counts = {};      ///< of the blocks; of alltoallv: those sent
  std::span<const std::size_t> out_counts = {};  ///< of alltoallv: those received
  Prepared* prepared = nullptr;  ///< not null: the call is kept there instead of being run
  UserFold user = {};            ///< where `dtype` is `User`
};
constexpr std::size_t element_bytes(const Buffers& buffers) noexcept {
  return buffers.dtype == DType::User ? buffers.user.element_bytes : size_of(buffers.dtype);
}
TUTTI_API void allreduce(Team& team, const Buffers& buffers, Op op, const Call& call);
TUTTI_API void allgather(Team& team, const Buffers& buffers, const Call& call);
TUTTI_API void reduce_scatter(Team& team, const Buffers& buffers, Op op, const Call& call);
TUTTI_API void broadcast(Team& team, const Buffers& buffers, int root, const Call& call);
TUTTI_API void reduce(Team& team, const Buffers& buffers, Op op, int root, const Call& call);
TUTTI_API void gather(Team& team, const Buffers& buffers, int root, const Call& call);
TUTTI_API void scatter(Team& team, const Buffers& buffers, int root, const Call& call);
TUTTI_API void alltoall(Team& team, const Buffers& buffers, const Call& call);

TUTTI_API void allgatherv(Team& team, const Buffers& buffers, const Call& call);
TUTTI_API void reduce_scatterv(Team& team, const Buffers& buffers, Op op, const Call& call);
TUTTI_API void alltoallv(Team& team, const Buffers& buffers, const Call& call);
TUTTI_API void gatherv(Team& team, const Buffers& buffers, int root, const Call& call);
TUTTI_API void scatterv(Team& team, const Buffers& buffers, int root, const Call& call);
TUTTI_API void ring_shift(Team& team, const Buffers& buffers, int shift, const Call& call);

template <class R>
concept ElementRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::ranges::range_value_t<R>>;

template <class T>
Buffers buffers_of(const T* in, std::size_t in_elements, T* out, std::size_t out_elements) {
  return {reinterpret_cast<const std::byte*>(in), reinterpret_cast<std::byte*>(out), in_elements,
          out_elements, dtype_of<T>};
}
template <ElementRange In, ElementRange Out>
requires std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>> Buffers
buffers_of(const In& in, Out&& out) {
  return buffers_of<std::ranges::range_value_t<In>>(std::ranges::data(in), std::ranges::size(in),
                                                    std::ranges::data(out), std::ranges::size(out));
}
template <Element T>
Buffers buffers_of(const ShmemTensor<T>& in, ShmemTensor<T>& out) {
  Buffers buffers = buffers_of(in.local(), out.local());
  buffers.in_block = &in.block();
  buffers.out_block = &out.block();
  return buffers;
}

}  // namespace detail

/// out[i] = reduction of in[i] over all PEs, on every PE. `in`, `out`: [count], any contiguous
/// ranges of one element type; equal or disjoint. Collective; blocks until `out` is complete.
/// Errors (all collectives): `InvalidArgument` before any data moves, for sizes that do not fit,
/// overlap that is not in place, a lane or root out of range, a type x op that is not defined;
/// `Tuning` for an algorithm that cannot do it; `Mismatch` if PEs make different calls;
/// `PeerFailed`, `Timeout` and, on a team that failed before, the code of the error that ended it,
/// as in docs/architecture.md, "Failure".
template <detail::ElementRange In, detail::ElementRange Out>
void allreduce(Team& team, const In& in, Out&& out, Op op, const Call& call = {}) {
  detail::allreduce(team, detail::buffers_of(in, out), op, call);
}
/// In place.
template <detail::ElementRange InOut>
void allreduce(Team& team, InOut&& in_out, Op op, const Call& call = {}) {
  detail::allreduce(team, detail::buffers_of(in_out, in_out), op, call);
}
template <Element T>
void allreduce(Team& team, const T* in, T* out, std::size_t count, Op op, const Call& call = {}) {
  detail::allreduce(team, detail::buffers_of(in, count, out, count), op, call);
}
/// On symmetric tensors of the team: no staging where an algorithm can do without.
template <Element T>
void allreduce(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, Op op,
               const Call& call = {}) {
  detail::allreduce(team, detail::buffers_of(in, out), op, call);
}

/// out[pe * count + i] = PE pe's in[i]. `in`: [count], `out`: [size() * count]; disjoint, or in
/// place with in = out + pe() * count.
template <detail::ElementRange In, detail::ElementRange Out>
void allgather(Team& team, const In& in, Out&& out, const Call& call = {}) {
  detail::allgather(team, detail::buffers_of(in, out), call);
}
template <Element T>
void allgather(Team& team, const T* in, T* out, std::size_t count, const Call& call = {}) {
  const auto pes = static_cast<std::size_t>(team.size());
  detail::allgather(team, detail::buffers_of(in, count, out, count * pes), call);
}
template <Element T>
void allgather(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, const Call& call = {}) {
  detail::allgather(team, detail::buffers_of(in, out), call);
}

/// out[i] = reduction over all PEs of in[pe() * count + i]. `in`: [size() * count], `out`:
/// [count]; disjoint, or in place with out = in + pe() * count.
template <detail::ElementRange In, detail::ElementRange Out>
void reduce_scatter(Team& team, const In& in, Out&& out, Op op, const Call& call = {}) {
  detail::reduce_scatter(team, detail::buffers_of(in, out), op, call);
}
template <Element T>
void reduce_scatter(Team& team, const T* in, T* out, std::size_t count, Op op,
                    const Call& call = {}) {
  const auto pes = static_cast<std::size_t>(team.size());
  detail::reduce_scatter(team, detail::buffers_of(in, count * pes, out, count), op, call);
}
template <Element T>
void reduce_scatter(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, Op op,
                    const Call& call = {}) {
  detail::reduce_scatter(team, detail::buffers_of(in, out), op, call);
}

/// Every PE's buffer becomes the root's. `in_out`: [count].
template <detail::ElementRange InOut>
void broadcast(Team& team, InOut&& in_out, int root, const Call& call = {}) {
  detail::broadcast(team, detail::buffers_of(in_out, in_out), root, call);
}
template <Element T>
void broadcast(Team& team, T* in_out, std::size_t count, int root, const Call& call = {}) {
  detail::broadcast(team, detail::buffers_of<T>(in_out, count, in_out, count), root, call);
}

/// out[i] = reduction of in[i] over all PEs, on the root. `in`, `out`: [count]; equal or disjoint.
/// Elsewhere `out` is neither written nor looked at: it may be empty, or a null pointer. Returns
/// when `in` may be written again; the other PEs need not have come yet.
template <detail::ElementRange In, detail::ElementRange Out>
void reduce(Team& team, const In& in, Out&& out, Op op, int root, const Call& call = {}) {
  detail::reduce(team, detail::buffers_of(in, out), op, root, call);
}
/// In place: only the root's buffer changes.
template <detail::ElementRange InOut>
void reduce(Team& team, InOut&& in_out, Op op, int root, const Call& call = {}) {
  detail::reduce(team, detail::buffers_of(in_out, in_out), op, root, call);
}
template <Element T>
void reduce(Team& team, const T* in, T* out, std::size_t count, Op op, int root,
            const Call& call = {}) {
  detail::reduce(team, detail::buffers_of(in, count, out, count), op, root, call);
}
template <Element T>
void reduce(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, Op op, int root,
            const Call& call = {}) {
  detail::reduce(team, detail::buffers_of(in, out), op, root, call);
}

/// The root's out[pe * count + i] = PE pe's in[i]. `in`: [count], `out`: [size() * count];
/// disjoint, or in place on the root with in = out + root * count. Elsewhere `out` is neither
/// written nor looked at, and the call returns when `in` may be written again.
template <detail::ElementRange In, detail::ElementRange Out>
void gather(Team& team, const In& in, Out&& out, int root, const Call& call = {}) {
  detail::gather(team, detail::buffers_of(in, out), root, call);
}
template <Element T>
void gather(Team& team, const T* in, T* out, std::size_t count, int root, const Call& call = {}) {
  const auto pes = static_cast<std::size_t>(team.size());
  detail::gather(team, detail::buffers_of(in, count, out, count * pes), root, call);
}
template <Element T>
void gather(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, int root,
            const Call& call = {}) {
  detail::gather(team, detail::buffers_of(in, out), root, call);
}

/// out[i] = the root's in[pe() * count + i]. `in`: [size() * count], `out`: [count]; disjoint, or
/// in place on the root with out = in + root * count. Elsewhere `in` is not looked at. The root
/// returns when `in` may be written again; the other PEs need not have come yet.
template <detail::ElementRange In, detail::ElementRange Out>
void scatter(Team& team, const In& in, Out&& out, int root, const Call& call = {}) {
  detail::scatter(team, detail::buffers_of(in, out), root, call);
}
template <Element T>
void scatter(Team& team, const T* in, T* out, std::size_t count, int root, const Call& call = {}) {
  const auto pes = static_cast<std::size_t>(team.size());
  detail::scatter(team, detail::buffers_of(in, count * pes, out, count), root, call);
}
template <Element T>
void scatter(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, int root,
             const Call& call = {}) {
  detail::scatter(team, detail::buffers_of(in, out), root, call);
}

/// out[pe * count + i] = PE pe's in[pe() * count + i]. `in`, `out`: [size() * count]; equal or
/// disjoint.
template <detail::ElementRange In, detail::ElementRange Out>
void alltoall(Team& team, const In& in, Out&& out, const Call& call = {}) {
  detail::alltoall(team, detail::buffers_of(in, out), call);
}
/// In place.
template <detail::ElementRange InOut>
void alltoall(Team& team, InOut&& in_out, const Call& call = {}) {
  detail::alltoall(team, detail::buffers_of(in_out, in_out), call);
}
/// `count`: elements of one block.
template <Element T>
void alltoall(Team& team, const T* in, T* out, std::size_t count, const Call& call = {}) {
  const std::size_t all = count * static_cast<std::size_t>(team.size());
  detail::alltoall(team, detail::buffers_of(in, all, out, all), call);
}
template <Element T>
void alltoall(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, const Call& call = {}) {
  detail::alltoall(team, detail::buffers_of(in, out), call);
}

/// out[i] = in[i] of the PE `shift` places down the ring, (pe() - shift) mod size(): everyone sends
/// to the PE `shift` places up. `in`, `out`: [count], equal or disjoint; `shift`: any number, equal
/// on all PEs; a multiple of size() copies. Blocks until `out` is complete and `in` may be written
/// again; PEs that neither send to me nor receive from me need not have come yet.
/// Errors: also `Mismatch` for shifts that differ from PE to PE.
/// Source: MPI Forum, MPI 4.0, section 3.2 (MPI_Sendrecv around a ring).
template <detail::ElementRange In, detail::ElementRange Out>
void ring_shift(Team& team, const In& in, Out&& out, int shift = 1, const Call& call = {}) {
  detail::ring_shift(team, detail::buffers_of(in, out), shift, call);
}
/// In place.
template <detail::ElementRange InOut>
void ring_shift(Team& team, InOut&& in_out, int shift = 1, const Call& call = {}) {
  detail::ring_shift(team, detail::buffers_of(in_out, in_out), shift, call);
}
template <Element T>
void ring_shift(Team& team, const T* in, T* out, std::size_t count, int shift = 1,
                const Call& call = {}) {
  detail::ring_shift(team, detail::buffers_of(in, count, out, count), shift, call);
}
/// On symmetric tensors of the team, the same on all PEs. In place (the same tensor twice) data go
/// through staging, as from private memory: what arrives may not overwrite what is still to go.
template <Element T>
void ring_shift(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, int shift = 1,
                const Call& call = {}) {
  detail::ring_shift(team, detail::buffers_of(in, out), shift, call);
}

/// What a lane's last collective ran, and what it cost this PE.
struct CallReport {
  std::string algorithm;  ///< "one_shot:ring_bytes=2M,..."
  Traffic traffic;
};
TUTTI_API CallReport last_call(const Team& team, int lane = 0);

/// What a call on this team would run, and why: with the team's rules, its environment and its
/// regime. `problem` says collective, type, op, memory, contract and count; the rest is the team's.
/// Local. Errors: as the pure `explain`.
TUTTI_API Explanation explain(const Team& team, Problem problem);

/// Collective: PE 0 reads a tuning file, and from now on its rules come before the built-in ones
/// on this team. Errors, the same on all PEs: `Tuning` for a file that cannot be read, is not as
/// docs/tuning.md says, or was measured on another machine (unless `any_machine`).
TUTTI_API void load_tuning(Team& team, const std::string& path, bool any_machine = false);

}  // namespace tutti
