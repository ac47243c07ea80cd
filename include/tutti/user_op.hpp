// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>

#include "tutti/collectives.hpp"
#include "tutti/tensor.hpp"

/// Reductions of a program's own: its function on elements of its own type.

namespace tutti {

/// What a `UserOp` folds: any trivially copyable type of 1 byte to 64 KiB.
template <class T>
concept UserElement = std::is_trivially_copyable_v<T> && !std::is_const_v<T> &&
                      sizeof(T) <= 65536 && alignof(T) <= 64;

/// Whether a o b = b o a for all a and b.
enum class Commutes : bool { No, Yes };

/// A reduction given by the program: fold(acc, next, count) sets acc[i] = acc[i] o next[i] for all
/// i < count. It must be associative, or else called with `Contract::Ordered`, which is the left
/// fold in PE order. Where it does not commute, the PEs' operands are kept in their order, and
/// algorithms that cannot do that are not chosen and are refused by name.
///
/// The function runs on the thread that makes the call, never on workers, with pointers that are
/// aligned for T and do not overlap. It calls nothing of Tutti. An exception that leaves it leaves
/// the collective too, and ends the team on every PE with its text.
/// Function and `context` must be the same thing on all PEs; size of T and `Commutes` are checked.
/// Source: MPI Forum, MPI 4.0, section 6.9.5.
template <UserElement T>
class UserOp {
 public:
  using Fold = void (*)(T* acc, const T* next, std::size_t count);
  using FoldWith = void (*)(const void* context, T* acc, const T* next, std::size_t count);

  UserOp(Fold fold, Commutes commutes) noexcept
      : fold_{[](const detail::UserFold& self, void* acc, const void* next, std::size_t count) {
                reinterpret_cast<Fold>(self.function)(static_cast<T*>(acc),
                                                      static_cast<const T*>(next), count);
              },
              reinterpret_cast<void (*)()>(fold), nullptr, sizeof(T), commutes == Commutes::Yes} {}
  /// `context` is handed to each call; it outlives the collectives that are given this operation.
  UserOp(FoldWith fold, const void* context, Commutes commutes) noexcept
      : fold_{[](const detail::UserFold& self, void* acc, const void* next, std::size_t count) {
                reinterpret_cast<FoldWith>(self.function)(self.context, static_cast<T*>(acc),
                                                          static_cast<const T*>(next), count);
              },
              reinterpret_cast<void (*)()>(fold), context, sizeof(T), commutes == Commutes::Yes} {}

  const detail::UserFold& fold() const noexcept { return fold_; }

 private:
  detail::UserFold fold_;
};

/// A function of two elements without state, such as a lambda that captures nothing.
template <class F, class T>
concept PureCombination = std::is_empty_v<F> && std::default_initializable<F> &&
    std::is_invocable_r_v<T, F, const T&, const T&>;

/// The operation a o b = combine(a, b).
template <UserElement T, PureCombination<T> F>
UserOp<T> user_op(F, Commutes commutes) noexcept {
  return UserOp<T>(
      [](T* acc, const T* next, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) acc[i] = F()(acc[i], next[i]);
      },
      commutes);
}

namespace detail {

template <class R, class T>
concept UserRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::same_as<std::ranges::range_value_t<R>, T>;

template <class T>
Buffers user_buffers(const T* in, std::size_t in_elements, T* out, std::size_t out_elements,
                     const UserOp<T>& op) {
  Buffers buffers{reinterpret_cast<const std::byte*>(in), reinterpret_cast<std::byte*>(out),
                  in_elements, out_elements, DType::User};
  buffers.user = op.fold();
  return buffers;
}
template <class T, std::ranges::contiguous_range In, std::ranges::contiguous_range Out>
Buffers user_buffers(const In& in, Out&& out, const UserOp<T>& op) {
  return user_buffers<T>(std::ranges::data(in), std::ranges::size(in), std::ranges::data(out),
                         std::ranges::size(out), op);
}
template <class T>
Buffers user_buffers(const ShmemTensor<T>& in, ShmemTensor<T>& out, const UserOp<T>& op) {
  Buffers buffers = user_buffers<T>(in.local(), out.local(), op);
  buffers.in_block = &in.block();
  buffers.out_block = &out.block();
  return buffers;
}

}  // namespace detail

/// The collectives of these names with an operation of the program's: shapes, aliasing and errors
/// as there. Errors: also `Mismatch` where PEs differ in the size of T or in whether it commutes.
template <class T, detail::UserRange<T> In, detail::UserRange<T> Out>
void allreduce(Team& team, const In& in, Out&& out, const UserOp<T>& op, const Call& call = {}) {
  detail::allreduce(team, detail::user_buffers(in, out, op), Op::User, call);
}
template <class T, detail::UserRange<T> InOut>
void allreduce(Team& team, InOut&& in_out, const UserOp<T>& op, const Call& call = {}) {
  detail::allreduce(team, detail::user_buffers(in_out, in_out, op), Op::User, call);
}
template <class T>
void allreduce(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, const UserOp<T>& op,
               const Call& call = {}) {
  detail::allreduce(team, detail::user_buffers(in, out, op), Op::User, call);
}

template <class T, detail::UserRange<T> In, detail::UserRange<T> Out>
void reduce(Team& team, const In& in, Out&& out, const UserOp<T>& op, int root,
            const Call& call = {}) {
  detail::reduce(team, detail::user_buffers(in, out, op), Op::User, root, call);
}
template <class T, detail::UserRange<T> InOut>
void reduce(Team& team, InOut&& in_out, const UserOp<T>& op, int root, const Call& call = {}) {
  detail::reduce(team, detail::user_buffers(in_out, in_out, op), Op::User, root, call);
}
template <class T>
void reduce(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, const UserOp<T>& op,
            int root, const Call& call = {}) {
  detail::reduce(team, detail::user_buffers(in, out, op), Op::User, root, call);
}

template <class T, detail::UserRange<T> In, detail::UserRange<T> Out>
void reduce_scatter(Team& team, const In& in, Out&& out, const UserOp<T>& op,
                    const Call& call = {}) {
  detail::reduce_scatter(team, detail::user_buffers(in, out, op), Op::User, call);
}
template <class T>
void reduce_scatter(Team& team, const ShmemTensor<T>& in, ShmemTensor<T>& out, const UserOp<T>& op,
                    const Call& call = {}) {
  detail::reduce_scatter(team, detail::user_buffers(in, out, op), Op::User, call);
}

template <class T, detail::UserRange<T> In, detail::UserRange<T> Out>
void reduce_scatterv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts,
                     const UserOp<T>& op, const Call& call = {}) {
  detail::Buffers buffers = detail::user_buffers(in, out, op);
  buffers.counts = counts;
  detail::reduce_scatterv(team, buffers, Op::User, call);
}

}  // namespace tutti
