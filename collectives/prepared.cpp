// SPDX-License-Identifier: Apache-2.0
#include "collectives/prepared.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/execution_state.hpp"
#include "primitives/copy.hpp"
#include "primitives/team_state.hpp"
#include "tutti/prepare.hpp"

namespace tutti {
namespace detail {
namespace {

/// Where blocks with counts begin; returns a hash of the counts that all PEs must agree on.
std::uint64_t fill_begins(LanePlans& kept, Collective collective, const Buffers& buffers) {
  if (!has_counts(collective)) return 0;
  const bool alltoall = collective == Collective::Alltoallv;
  std::uint64_t hash = 0;
  const auto fill = [&](std::vector<std::size_t>& to, std::span<const std::size_t> counts) {
    to[0] = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      to[i + 1] = to[i] + counts[i];
      hash = (hash ^ counts[i]) * 0x9E3779B97F4A7C15u;
    }
  };
  fill(kept.in_begins, buffers.counts);
  fill(kept.out_begins, alltoall ? buffers.out_counts : buffers.counts);
  return alltoall ? 0 : hash;
}

}  // namespace

void run_plan(TeamState& team, const Plan& plan, const Buffers& buffers, int root,
              const Call& call) {
  Lane& lane = team.lane(call.lane);
  LanePlans& kept = TeamTuner::of(team).lane(call.lane);
  const std::uint64_t counts = fill_begins(kept, plan.problem.collective, buffers);
  lane.begin(plan.record, {root, counts, call.timeout});
  if (plan.problem.dtype == DType::User) [[unlikely]] {
    kept.user_room.resize(user_lines(plan.problem.element_bytes));
  }
  ExecutionState state{.team = team,
                       .lane = lane,
                       .problem = plan.problem,
                       .buffers = buffers,
                       .root = root,
                       .ring = plan.ring_bytes == 0 ? nullptr : &lane.ring(plan.ring_bytes),
                       .fold_fn = plan.fold,
                       .user_room = std::as_writable_bytes(std::span(kept.user_room)),
                       .sources = kept.sources,
                       .targets = kept.targets,
                       .peer_ins = kept.peer_ins,
                       .peer_outs = kept.peer_outs,
                       .in_begins = kept.in_begins,
                       .out_begins = kept.out_begins,
                       .workers = team.world().workers()};
  Execution execution(state);
  if (plan.problem.contract == Contract::Ordered) {
    const DenormalGuard guard;
    plan.algorithm->run(execution, plan.params);
  } else {
    plan.algorithm->run(execution, plan.params);
  }
  kept.ran = plan.algorithm;
  kept.params = plan.params;
  kept.traffic = state.traffic;
}

void copy_own_block(const TeamState& team, const Buffers& buffers, const std::byte* own_block) {
  const std::size_t bytes = buffers.out_elements * element_bytes(buffers);
  if (bytes == 0 || buffers.out == own_block) return;
  copy(team.world().workers(), buffers.out, own_block, bytes, Store::Cached);
}

std::shared_ptr<Prepared> make_prepared() { return std::make_shared<Prepared>(); }

void run_prepared(Team& team, const Prepared& prepared) {
  TeamState& state = team.state();
  if (prepared.plan.algorithm == nullptr) {
    state.check_usable();
    copy_own_block(state, prepared.buffers, prepared.own_block);
    return;
  }
  run_plan(state, prepared.plan, prepared.buffers, prepared.root, prepared.call);
}

// As `Door` does it.
const Algorithm* decide(Team& team, Problem& problem, const Call& call) {
  TeamTuner& tuner = TeamTuner::of(team.state());
  problem.line_ns = tuner.regime().at_call(call.lane, call.timeout);
  return tuner.plan(problem, call).algorithm;
}

}  // namespace detail

std::string Persistent::algorithm() const {
  const detail::Plan& plan = prepared_->plan;
  return plan.algorithm == nullptr ? "copy" : describe(*plan.algorithm, plan.params);
}

}  // namespace tutti
