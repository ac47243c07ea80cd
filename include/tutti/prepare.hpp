// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tutti/collectives.hpp"
#include "tutti/counts.hpp"
#include "tutti/export.hpp"
#include "tutti/start.hpp"
#include "tutti/team.hpp"
#include "tutti/user_op.hpp"

/// Persistent collectives: checked, decided and given their staging once, run many times on the
/// same buffers. A run decides and allocates nothing. Source: MPI Forum, MPI 4.0, section 6.13.

namespace tutti {

namespace detail {
struct Prepared;
TUTTI_API std::shared_ptr<Prepared> make_prepared();
TUTTI_API void run_prepared(Team& team, const Prepared& prepared);

/// The decision of a call, known or made, without the call: what tutti-bench times. Collective as
/// the call would be, where the line transfer is followed. `problem`: with the facts of the team;
/// the line transfer is filled in.
TUTTI_API const Algorithm* decide(Team& team, Problem& problem, const Call& call);
}  // namespace detail

/// A collective that is ready to run. Copies are the same one. Keeps the team alive, not the
/// buffers.
class TUTTI_API Persistent {
 public:
  Persistent(Team team, std::shared_ptr<detail::Prepared> prepared) noexcept
      : team_(std::move(team)), prepared_(std::move(prepared)) {}

  /// Runs it, as the collective itself would; in the same order among the calls of its lane on all
  /// PEs. Errors: those of the collective that can only be seen while it runs.
  void run() { detail::run_prepared(team_, *prepared_); }
  /// What runs: "one_shot:ring_bytes=2M,...".
  std::string algorithm() const;

 private:
  Team team_;
  std::shared_ptr<detail::Prepared> prepared_;
};

namespace detail {
template <class F>
Persistent prepare(Team& team, Buffers buffers, const Call& call, F&& collective) {
  auto prepared = make_prepared();
  buffers.prepared = prepared.get();
  collective(buffers, call);
  return Persistent(team, std::move(prepared));
}
}  // namespace detail

/// The collectives of these names, prepared: arguments, aliasing and errors as there; what is kept
/// of the arguments are the addresses of the buffers, and copies of counts and operations.
/// Collective; blocks if staging has to be made.
template <class In, class Out>
Persistent prepare_allreduce(Team& team, const In& in, Out&& out, Op op, const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::allreduce(team, buffers, op, with);
                         });
}
template <class InOut>
Persistent prepare_allreduce(Team& team, InOut&& in_out, Op op, const Call& call = {}) {
  return prepare_allreduce(team, in_out, in_out, op, call);
}
template <class In, class Out>
Persistent prepare_allgather(Team& team, const In& in, Out&& out, const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::allgather(team, buffers, with);
                         });
}
template <class In, class Out>
Persistent prepare_reduce_scatter(Team& team, const In& in, Out&& out, Op op,
                                  const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::reduce_scatter(team, buffers, op, with);
                         });
}
template <class InOut>
Persistent prepare_broadcast(Team& team, InOut&& in_out, int root, const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in_out, in_out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::broadcast(team, buffers, root, with);
                         });
}
template <class In, class Out>
Persistent prepare_reduce(Team& team, const In& in, Out&& out, Op op, int root,
                          const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::reduce(team, buffers, op, root, with);
                         });
}
template <class In, class Out>
Persistent prepare_gather(Team& team, const In& in, Out&& out, int root, const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::gather(team, buffers, root, with);
                         });
}
template <class In, class Out>
Persistent prepare_scatter(Team& team, const In& in, Out&& out, int root, const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::scatter(team, buffers, root, with);
                         });
}
template <class In, class Out>
Persistent prepare_alltoall(Team& team, const In& in, Out&& out, const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::alltoall(team, buffers, with);
                         });
}
template <class In, class Out>
Persistent prepare_ring_shift(Team& team, const In& in, Out&& out, int shift = 1,
                              const Call& call = {}) {
  return detail::prepare(team, detail::buffers_of(in, out), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::ring_shift(team, buffers, shift, with);
                         });
}

/// With a length for each block (`tutti/counts.hpp`).
template <class In, class Out>
Persistent prepare_allgatherv(Team& team, const In& in, Out&& out,
                              std::span<const std::size_t> counts, const Call& call = {}) {
  return detail::prepare(team, detail::counted_buffers(in, out, counts), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::allgatherv(team, buffers, with);
                         });
}
template <class In, class Out>
Persistent prepare_reduce_scatterv(Team& team, const In& in, Out&& out,
                                   std::span<const std::size_t> counts, Op op,
                                   const Call& call = {}) {
  return detail::prepare(team, detail::counted_buffers(in, out, counts), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::reduce_scatterv(team, buffers, op, with);
                         });
}
template <class In, class Out>
Persistent prepare_alltoallv(Team& team, const In& in, std::span<const std::size_t> send_counts,
                             Out&& out, std::span<const std::size_t> receive_counts,
                             const Call& call = {}) {
  detail::Buffers given = detail::counted_buffers(in, out, send_counts);
  given.out_counts = receive_counts;
  return detail::prepare(team, given, call, [&](const detail::Buffers& buffers, const Call& with) {
    detail::alltoallv(team, buffers, with);
  });
}
template <class In, class Out>
Persistent prepare_gatherv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts,
                           int root, const Call& call = {}) {
  return detail::prepare(team, detail::counted_buffers(in, out, counts), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::gatherv(team, buffers, root, with);
                         });
}
template <class In, class Out>
Persistent prepare_scatterv(Team& team, const In& in, Out&& out,
                            std::span<const std::size_t> counts, int root, const Call& call = {}) {
  return detail::prepare(team, detail::counted_buffers(in, out, counts), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::scatterv(team, buffers, root, with);
                         });
}

/// With an operation of the program's own (`tutti/user_op.hpp`).
template <class T, class In, class Out>
Persistent prepare_allreduce(Team& team, const In& in, Out&& out, const UserOp<T>& op,
                             const Call& call = {}) {
  return detail::prepare(team, detail::user_buffers(in, out, op), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::allreduce(team, buffers, Op::User, with);
                         });
}
template <class T, class In, class Out>
Persistent prepare_reduce(Team& team, const In& in, Out&& out, const UserOp<T>& op, int root,
                          const Call& call = {}) {
  return detail::prepare(team, detail::user_buffers(in, out, op), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::reduce(team, buffers, Op::User, root, with);
                         });
}
template <class T, class In, class Out>
Persistent prepare_reduce_scatter(Team& team, const In& in, Out&& out, const UserOp<T>& op,
                                  const Call& call = {}) {
  return detail::prepare(team, detail::user_buffers(in, out, op), call,
                         [&](const detail::Buffers& buffers, const Call& with) {
                           detail::reduce_scatter(team, buffers, Op::User, with);
                         });
}

}  // namespace tutti
