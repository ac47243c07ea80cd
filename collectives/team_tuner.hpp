// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/kernels/fold.hpp"
#include "collectives/kernels/user_fold.hpp"
#include "collectives/regime.hpp"
#include "collectives/said.hpp"
#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/decision_cache.hpp"
#include "collectives/tuner/select.hpp"
#include "primitives/team_state.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/collectives.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// The kinds of calls list the collectives in the order of `Collective`.
constexpr CallKind kind_of(Collective collective) noexcept {
  static_assert(static_cast<std::size_t>(CallKind::RingShift) -
                    static_cast<std::size_t>(CallKind::Allreduce) + 1 ==
                kCollectives);
  return static_cast<CallKind>(static_cast<int>(CallKind::Allreduce) +
                               static_cast<int>(collective));
}

/// A decision, ready to run: everything that a repeated call needs, fetched once.
struct Plan {
  Problem problem;
  const Algorithm* algorithm = nullptr;
  Params params;
  std::size_t ring_bytes = 0;
  std::uint64_t weight = 0;  ///< as `Regime` counts calls
  FoldFn fold = nullptr;
  CallRecord record;  ///< without call number and root
};

/// The plan of a call that names its algorithm.
struct InsistedPlan {
  std::string on;  ///< the text of the call
  DecisionKey key = kNoProblem;
  Plan plan;
};

/// What a lane keeps from call to call.
struct LanePlans {
  DecisionCache<Plan> chosen;  ///< where the call leaves the choice to the rules
  DecisionCache<InsistedPlan> insisted;
  const Algorithm* ran = nullptr;  ///< by the last call, with `params` and `traffic`
  Params params;
  Traffic traffic;
  std::vector<const std::byte*> sources;  ///< room for one pointer a PE
  std::vector<std::byte*> targets;
  std::vector<UserLine> user_room;         ///< in which a program's own operation folds
  std::vector<const std::byte*> peer_ins;  ///< where the last call's buffers were
  std::vector<std::byte*> peer_outs;
  std::vector<std::size_t> in_begins;  ///< where blocks with counts begin, and where the last ends
  std::vector<std::size_t> out_begins;
};

/// A tuning file whose rules hold, for one team or all teams of a PE, and what was said of it.
struct FileInForce {
  Tuning tuning;
  mutable Said<const Rule*> skipped;
  mutable Said<int> uncovered;  ///< numbers of PEs that no rule is about
};

/// The tuner's end of a team: which rules hold here, and what was decided last. Equal on all PEs
/// but for the traffic.
class TeamTuner : public TeamAttachment {
 public:
  /// The team's, made at its first collective from facts that were agreed at start-up: local.
  static TeamTuner& of(TeamState& team) {
    // One load in the steady state; `call_once` costs more, also when it was called before.
    if (TeamAttachment* made = team.attached.load(std::memory_order_acquire)) [[likely]] {
      return static_cast<TeamTuner&>(*made);
    }
    return make(team);
  }

  /// The plan of the lane's next call, valid until the one after it: the lane's own if it knows the
  /// problem, else a new selection.
  /// Errors: `Tuning`, `Unsupported`, the same on all PEs.
  const Plan& plan(const Problem& problem, const Call& call) {
    const DecisionKey key = key_of(problem);
    const Plan* known = call.algorithm.empty() ? lane(call.lane).chosen.find(key) : nullptr;
    if (known == nullptr) [[unlikely]] {
      known = &new_plan(problem, key, call);
    }
    regime_.count_call(call.lane, known->weight);
    return *known;
  }
  Explanation explain(const Problem& problem) const;
  Regime& regime() noexcept { return regime_; }
  LanePlans& lane(int index) { return lanes_[static_cast<std::size_t>(index)]; }

  /// From now on, the rules of this file come before the built-in ones.
  void use(Tuning tuning);

 private:
  explicit TeamTuner(TeamState& team);
  // Apart from what every call does, so that this keeps few registers.
  [[gnu::noinline]] static TeamTuner& make(TeamState& team);
  void warn_if_uncovered() const;
  SelectorInput rules() const;
  [[gnu::noinline]] const Plan& new_plan(const Problem& problem, DecisionKey key, const Call& call);
  Plan choose(const Problem& problem, std::string_view algorithm);
  void report(const Problem& problem, const Decision& decision);

  TeamState& team_;
  Regime regime_;
  Catalog catalog_;
  std::vector<Forced> environment_;
  std::shared_ptr<const FileInForce> file_;
  /// The key of a problem, the hash of its decision, and who decided.
  using Traced = std::array<std::uint64_t, 4>;
  Said<Traced> traced_;
  std::array<LanePlans, kLanes> lanes_;
  std::vector<DecisionCache<Plan>> retired_;  ///< plans made before other rules came
};

}  // namespace tutti::detail
