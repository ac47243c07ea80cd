// SPDX-License-Identifier: Apache-2.0
#include "collectives/door.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "collectives/prepared.hpp"
#include "collectives/tuner/rules.hpp"
#include "primitives/team_state.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

Door::Door(Team& team, Collective collective, const Buffers& buffers, Op op, const Call& call)
    : team_(team.state()), buffers_(buffers), call_(call) {
  problem_.collective = collective;
  problem_.dtype = buffers.dtype;
  problem_.op = op;
  problem_.contract = call.contract;
  problem_.memory = buffers.in_block != nullptr && buffers.out_block != nullptr ? Memory::Symmetric
                                                                                : Memory::Private;
  problem_.reachable = team_.all_direct();
  problem_.shared_address_space = team_.shared_address_space();
  problem_.pes = team_.pes();
  problem_.nodes = 1;
  problem_.element_bytes = buffers.user.element_bytes;
  problem_.commutative = buffers.user.commutative;
}

void Door::enter(std::size_t count, const Refusal& refusal, const std::byte* own_block, int root) {
  problem_.count = count;
  if (call_.lane < 0 || call_.lane >= kLanes) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}, PE {}: lane {}; allowed are 0 to {}", name_of(problem_.collective),
                            team_.pe(), call_.lane, kLanes - 1));
  }
  Lane& lane = team_.lane(call_.lane);
  if (refusal) refuse(lane, *refusal);
  if (const Refusal wrong = wrong_reduction()) refuse(lane, *wrong);
  if (problem_.pes == 1) {
    team_.check_usable();
    if (buffers_.prepared != nullptr) {
      keep({}, own_block, root);
    } else {
      copy_own_block(team_, buffers_, own_block);
    }
    return;
  }
  const Plan& plan = planned(lane);
  if (plan.ring_bytes != 0) require_ring(lane, plan.ring_bytes);
  if (buffers_.prepared != nullptr) [[unlikely]] {
    keep(plan, own_block, root);
    return;
  }
  run_plan(team_, plan, buffers_, root, call_);
}

void Door::refuse(Lane& lane, const std::string& reason) {
  const std::string text = fmt::format("{} on team {}, PE {}: {}", name_of(problem_.collective),
                                       team_.name(), team_.pe(), reason);
  lane.refuse(kind(), text);
  throw Error(ErrorCode::InvalidArgument, text);
}

Refusal Door::wrong_reduction() const {
  if (buffers_.dtype == DType::User) {
    if (buffers_.user.function != nullptr) return std::nullopt;
    return "the reduction of the program has no function";
  }
  if (!reduces(problem_.collective) || fold_is_defined(problem_.dtype, problem_.op)) {
    return std::nullopt;
  }
  return fmt::format("{} is not defined for {}", name_of(problem_.op), name_of(problem_.dtype));
}

/// The first sign that PEs make different calls may be that they want different rings.
void Door::require_ring(Lane& lane, std::size_t bytes) {
  try {
    lane.require_ring(bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Mismatch) throw;
    const std::string text =
        fmt::format("{} on team {}, PE {}: {}; here it is {}", name_of(problem_.collective),
                    team_.name(), team_.pe(), error.what(), describe(problem_));
    team_.poison(ErrorCode::Mismatch, text, team_.member(team_.pe()));
    throw Error(ErrorCode::Mismatch, text);
  }
}

const Plan& Door::planned(Lane& lane) {
  TeamTuner& tuner = TeamTuner::of(team_);
  problem_.line_ns = tuner.regime().at_call(call_.lane, call_.timeout);
  try {
    return tuner.plan(problem_, call_);
  } catch (const Error& error) {
    lane.refuse(kind(), error.what());
    throw;
  }
}

/// Instead of running: the same call, ready to run.
void Door::keep(const Plan& plan, const std::byte* own_block, int root) {
  Prepared& prepared = *buffers_.prepared;
  prepared.call = call_;
  prepared.call.algorithm = {};
  prepared.buffers = buffers_;
  prepared.buffers.prepared = nullptr;
  prepared.counts.assign(buffers_.counts.begin(), buffers_.counts.end());
  prepared.out_counts.assign(buffers_.out_counts.begin(), buffers_.out_counts.end());
  prepared.buffers.counts = prepared.counts;
  prepared.buffers.out_counts = prepared.out_counts;
  prepared.plan = plan;
  prepared.own_block = own_block;
  prepared.root = root;
}

}  // namespace tutti::detail
