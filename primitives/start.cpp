// SPDX-License-Identifier: Apache-2.0
#include "tutti/start.hpp"

#include <fmt/format.h>

#include <exception>

#include "primitives/fault.hpp"
#include "primitives/fibers.hpp"
#include "primitives/team_state.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {
constexpr int kMostDrives = 1000;
}

int lane_for_start(Team& team, const Call& call) {
  TeamState& state = team.state();
  if (call.lane < 0 || call.lane >= kLanes) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("start, PE {}: lane {}; allowed are 0 to {}", state.pe(), call.lane,
                            kLanes - 1));
  }
  return call.lane != 0 ? call.lane : state.next_lane();
}

std::shared_ptr<Task> start(Team& team, int lane, std::function<void()> body) {
  TeamState& state = team.state();
  state.check_usable();
  std::shared_ptr<Task>& last = state.last_started(lane);
  if (last != nullptr && last->done) last.reset();
  return last = state.world().fibers().start(std::move(body), last);
}

bool test(Team& team, Task& task) {
  World& world = team.state().world();
  if (world.transport() != nullptr) world.transport()->progress();
  if (!task.done) world.fibers().drive();
  return task.done;
}

void finish(Team& team, Task& task) {
  TeamState& state = team.state();
  const auto ended = [&task] {
    if (!task.done) delay_here("finish.ended");
    return task.done;
  };
  state.world().waiting().until(ended, {&state, "finish"});
  if (task.error) std::rethrow_exception(std::exchange(task.error, nullptr));
}

void abandon(Team& team, Task& task) noexcept {
  if (task.done) return;
  TeamState& state = team.state();
  try {
    if (std::uncaught_exceptions() > 0) {
      state.poison(ErrorCode::PeerFailed, "an exception left a PE that had started an operation",
                   state.world().pe());
    } else {
      finish(team, task);
    }
  } catch (...) {
    // Said by whoever noticed; nothing more can be done from a destructor.
  }
  // The waits of an unusable team end with its error, also those of operations before it on its
  // lane. An operation that is left where it waits would keep the team for ever.
  for (int i = 0; i < kMostDrives && !task.done; ++i) state.world().fibers().drive();
}

}  // namespace tutti::detail
