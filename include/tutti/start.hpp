// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/collectives.hpp"
#include "tutti/counts.hpp"
#include "tutti/export.hpp"
#include "tutti/team.hpp"

/// Collectives that go on while the program does something else: start, then test or finish.
///
/// A started operation runs on a fiber and a lane of its own. It goes on whenever its PE waits for
/// anything on any team, or tests. So PEs may finish what they started in any order; they start on
/// one team in the same order, like all its calls. Buffers are the operation's until it has ended.
/// One thread of a PE starts, tests and finishes. Source: MPI Forum, MPI 4.0, section 6.12.

namespace tutti {

namespace detail {
struct Task;
TUTTI_API std::shared_ptr<Task> start(Team& team, int lane, std::function<void()> body);
TUTTI_API int lane_for_start(Team& team, const Call& call);
TUTTI_API bool test(Team& team, Task& task);
TUTTI_API void finish(Team& team, Task& task);
TUTTI_API void abandon(Team& team, Task& task) noexcept;
}  // namespace detail

/// An operation that was started. Move-only.
class [[nodiscard]] Request {
 public:
  Request(Team team, std::shared_ptr<detail::Task> task) noexcept
      : team_(std::move(team)), task_(std::move(task)) {}
  Request(Request&&) noexcept = default;
  Request& operator=(Request&& other) {
    if (task_ != nullptr) finish();
    team_ = other.team_;
    task_ = std::move(other.task_);
    return *this;
  }
  /// Finishes it, like the destructor of a `std::jthread`, and lets its error go; while an
  /// exception unwinds the stack it makes the team unusable instead, so that nobody waits for this
  /// PE.
  ~Request() {
    if (task_ != nullptr) detail::abandon(team_, *task_);
  }

  /// Whether it has ended; does not block, and lets everything that this PE started go on. Throws
  /// its error, once.
  bool test() {
    if (task_ == nullptr || !detail::test(team_, *task_)) return task_ == nullptr;
    finish();
    return true;
  }
  /// Blocks until it has ended. Errors: its own, once.
  void finish() {
    if (task_ == nullptr) return;
    detail::finish(team_, *task_);  // if it throws, the destructor sees to what is not done
    task_.reset();
  }

 private:
  Team team_;
  std::shared_ptr<detail::Task> task_;
};

/// Starts `body(team, call)`, any sequence of collectives on this team that pass on `call`: it
/// names the lane. `call.lane` 0 = the next one of lanes 1 to 3, else that one; operations on one
/// lane run one after the other. Collective in the sense that all PEs start the same. Allocates.
/// Errors: `InvalidArgument` (here) for a lane that does not exist, or while another thread of this
/// PE has operations in flight; all others from `finish`.
template <class Body>
requires std::invocable<Body&, Team&, const Call&> Request start(Team& team, Body body,
                                                                 Call call = {}) {
  call.lane = detail::lane_for_start(team, call);
  auto task = detail::start(
      team, call.lane,
      [team, call, algorithm = std::string(call.algorithm), body = std::move(body)]() mutable {
        call.algorithm = algorithm;
        body(team, static_cast<const Call&>(call));
      });
  return Request(team, std::move(task));
}

namespace detail {
/// Starts `collective(team, buffers, call)` with counts of its own.
template <class F>
Request start_counted(Team& team, Buffers buffers, const Call& call, F collective) {
  return tutti::start(
      team,
      [buffers, collective, counts = std::vector(buffers.counts.begin(), buffers.counts.end()),
       out_counts = std::vector(buffers.out_counts.begin(), buffers.out_counts.end())](
          Team& on, const Call& with) mutable {
        buffers.counts = counts;
        buffers.out_counts = out_counts;
        collective(on, buffers, with);
      },
      call);
}
}  // namespace detail

/// `start` of one collective; arguments as there.
template <detail::ElementRange In, detail::ElementRange Out>
Request start_allreduce(Team& team, const In& in, Out&& out, Op op, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::allreduce(on, buffers, op, with); }, call);
}
template <detail::ElementRange InOut>
Request start_allreduce(Team& team, InOut&& in_out, Op op, const Call& call = {}) {
  return start_allreduce(team, in_out, in_out, op, call);
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_allgather(Team& team, const In& in, Out&& out, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::allgather(on, buffers, with); }, call);
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_reduce_scatter(Team& team, const In& in, Out&& out, Op op, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::reduce_scatter(on, buffers, op, with); },
      call);
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_alltoall(Team& team, const In& in, Out&& out, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::alltoall(on, buffers, with); }, call);
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_ring_shift(Team& team, const In& in, Out&& out, int shift = 1,
                         const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::ring_shift(on, buffers, shift, with); },
      call);
}
template <detail::ElementRange InOut>
Request start_broadcast(Team& team, InOut&& in_out, int root, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in_out, in_out);
  return start(
      team, [=](Team& on, const Call& with) { detail::broadcast(on, buffers, root, with); }, call);
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_reduce(Team& team, const In& in, Out&& out, Op op, int root, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::reduce(on, buffers, op, root, with); }, call);
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_gather(Team& team, const In& in, Out&& out, int root, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::gather(on, buffers, root, with); }, call);
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_scatter(Team& team, const In& in, Out&& out, int root, const Call& call = {}) {
  const auto buffers = detail::buffers_of(in, out);
  return start(
      team, [=](Team& on, const Call& with) { detail::scatter(on, buffers, root, with); }, call);
}

/// With a length for each block (`tutti/counts.hpp`); counts are copied.
template <detail::ElementRange In, detail::ElementRange Out>
Request start_allgatherv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts,
                         const Call& call = {}) {
  return detail::start_counted(
      team, detail::counted_buffers(in, out, counts), call,
      [](Team& on, const detail::Buffers& b, const Call& c) { detail::allgatherv(on, b, c); });
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_reduce_scatterv(Team& team, const In& in, Out&& out,
                              std::span<const std::size_t> counts, Op op, const Call& call = {}) {
  return detail::start_counted(team, detail::counted_buffers(in, out, counts), call,
                               [=](Team& on, const detail::Buffers& b, const Call& c) {
                                 detail::reduce_scatterv(on, b, op, c);
                               });
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_alltoallv(Team& team, const In& in, std::span<const std::size_t> send_counts,
                        Out&& out, std::span<const std::size_t> receive_counts,
                        const Call& call = {}) {
  detail::Buffers buffers = detail::counted_buffers(in, out, send_counts);
  buffers.out_counts = receive_counts;
  return detail::start_counted(
      team, buffers, call,
      [](Team& on, const detail::Buffers& b, const Call& c) { detail::alltoallv(on, b, c); });
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_gatherv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts,
                      int root, const Call& call = {}) {
  return detail::start_counted(
      team, detail::counted_buffers(in, out, counts), call,
      [=](Team& on, const detail::Buffers& b, const Call& c) { detail::gatherv(on, b, root, c); });
}
template <detail::ElementRange In, detail::ElementRange Out>
Request start_scatterv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts,
                       int root, const Call& call = {}) {
  return detail::start_counted(
      team, detail::counted_buffers(in, out, counts), call,
      [=](Team& on, const detail::Buffers& b, const Call& c) { detail::scatterv(on, b, root, c); });
}

}  // namespace tutti
