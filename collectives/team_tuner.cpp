// SPDX-License-Identifier: Apache-2.0
#include "collectives/team_tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include "collectives/tuner/choice.hpp"
#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/tuning_file.hpp"
#include "primitives/machine.hpp"

namespace tutti::detail {
namespace {

CallRecord record_of(const Problem& problem, const Decision& decision) {
  CallRecord record;
  record.kind = kind_of(problem.collective);
  record.count = problem.count;
  const DecisionKey key = key_of(problem);
  record.how = key.facts ^ decision.hash ^ (key.count ^ problem.count);
  std::string text = std::string(name_of(problem.dtype)) + ' ';
  if (problem.dtype == DType::User) {
    text += fmt::format("{} B ", problem.element_bytes);
  } else if (reduces(problem.collective)) {
    text += std::string(name_of(problem.op)) + ' ';
  }
  text += decision.algorithm->name;
  text.copy(record.detail.data(), record.detail.size() - 1);
  return record;
}

void warn(const TeamState& team, const std::string& text) {
  if (team.world().pe() == 0) fmt::print(stderr, "tutti: {}\n", text);
}

/// The file that TUTTI_TUNING names, if it is used: read once for all teams of this PE, for it may
/// hold many points. PE 0's machine decides for all: PEs elsewhere would choose other algorithms.
std::shared_ptr<const FileInForce> file_of(TeamState& team) {
  World::Remembered& memory = team.world().tuner_memory();
  std::call_once(memory.once, [&] {
    const Settings& settings = team.world().settings();
    auto file = std::make_shared<FileInForce>();
    if (!settings.tuning.empty()) {
      file->tuning = parse_tuning(settings.tuning_text, settings.tuning,
                                  team.world().options().extra_algorithms);
      const auto differing = differences(file->tuning, machine_from_text(settings.machine_text), 0);
      if (!differing.empty()) {
        file->tuning = {};
        warn(team, fmt::format("{} was measured on another machine and is not used: {}",
                               settings.tuning, fmt::join(differing, "; ")));
      }
    }
    memory.value = std::move(file);
  });
  return std::static_pointer_cast<const FileInForce>(memory.value);
}

}  // namespace

TeamTuner& TeamTuner::make(TeamState& team) {
  std::call_once(team.attachment_made, [&] {
    team.attachment.reset(new TeamTuner(team));
    team.attached.store(team.attachment.get(), std::memory_order_release);
  });
  return static_cast<TeamTuner&>(*team.attachment);
}

TeamTuner::TeamTuner(TeamState& team)
    : team_(team),
      regime_(team),
      catalog_(builtin_catalog(team.world().options().extra_algorithms)) {
  const Settings& settings = team.world().settings();
  environment_ = detail::parse_forced(settings.algorithm, "TUTTI_ALGORITHM", catalog_);
  file_ = file_of(team);
  warn_if_uncovered();
  const auto pes = static_cast<std::size_t>(team.pes());
  for (LanePlans& lane : lanes_) {
    lane.sources.resize(pes);
    lane.targets.resize(pes);
    lane.peer_ins.resize(pes);
    lane.peer_outs.resize(pes);
    lane.in_begins.resize(pes + 1);
    lane.out_begins.resize(pes + 1);
  }
}

/// Of the file that TUTTI_TUNING names, whose machine was compared once for all teams.
void TeamTuner::warn_if_uncovered() const {
  if (team_.pes() == 1) return;  // nothing is chosen
  const auto differing = differences(file_->tuning, MachineFacts{}, team_.pes());
  if (differing.empty() || !file_->uncovered.first_time(team_.pes())) return;
  warn(team_, fmt::format("{} is not used on teams of {} PEs: {}", team_.world().settings().tuning,
                          team_.pes(), fmt::join(differing, "; ")));
}

void TeamTuner::use(Tuning tuning) {
  auto file = std::make_shared<FileInForce>();
  file->tuning = std::move(tuning);
  file_ = std::move(file);
  traced_.clear();
  for (LanePlans& lane : lanes_) {
    // What was started and is not finished runs by its plan.
    retired_.push_back(std::move(lane.chosen));
    lane.chosen.clear();
  }
}

SelectorInput TeamTuner::rules() const {
  static const std::vector<Rule> built_in = builtin_rules(builtin_catalog());
  return {&catalog_, nullptr, environment_, file_->tuning.rules, built_in, &file_->tuning.machine};
}

Plan TeamTuner::choose(const Problem& problem, std::string_view algorithm) {
  SelectorInput input = rules();
  Forced forced;
  if (!algorithm.empty()) {
    forced = detail::parse_choice(problem.collective, algorithm, "Call::algorithm", catalog_);
    input.call = &forced;
  }
  const Decision decision = select(problem, input);
  report(problem, decision);
  Plan plan;
  plan.problem = problem;
  plan.algorithm = decision.algorithm;
  plan.params = decision.params;
  plan.ring_bytes = decision.algorithm->scratch_bytes(problem, decision.params);
  if (plan.ring_bytes != 0) plan.ring_bytes = std::bit_ceil(plan.ring_bytes);
  plan.weight = Regime::weight_of(bytes_of(problem));
  plan.fold = reduces(problem.collective) ? fold_kernel(problem.dtype, problem.op) : nullptr;
  plan.record = record_of(problem, decision);
  return plan;
}

/// Once a rule, and once a decision, however often a program's problems push each other out.
void TeamTuner::report(const Problem& problem, const Decision& decision) {
  for (const SkippedRule& skipped : decision.skipped) {
    if (file_->skipped.first_time(skipped.rule)) warn(team_, skipped.reason);
  }
  if (!team_.world().settings().trace) return;
  const DecisionKey key = key_of(problem);
  const auto where = static_cast<std::uint64_t>(decision.where);
  if (!traced_.first_time({key.facts, key.count, decision.hash, where})) return;
  warn(team_, to_string(detail::explain(problem, decision, catalog_, file_->tuning.machine)));
}

/// Of a problem that the lane does not know, or of a call that insists on an algorithm.
const Plan& TeamTuner::new_plan(const Problem& problem, DecisionKey key, const Call& call) {
  LanePlans& mine = lane(call.lane);
  if (call.algorithm.empty()) return mine.chosen.insert(key, choose(problem, {}));
  const DecisionKey both = {key.facts, key.count ^ std::hash<std::string_view>{}(call.algorithm)};
  InsistedPlan* known = mine.insisted.find(both);
  if (known == nullptr) known = &mine.insisted.insert(both, {});
  if (known->key != key || known->on != call.algorithm) {  // new, or another text of this hash
    known->plan = choose(problem, call.algorithm);
    known->key = key;
    known->on = call.algorithm;
  }
  return known->plan;
}

Explanation TeamTuner::explain(const Problem& problem) const {
  MachineFacts machine = file_->tuning.machine;
  if (problem.line_ns != 0) machine.line_ns = problem.line_ns;
  return detail::explain(problem, rules(), machine);
}

}  // namespace tutti::detail

namespace tutti {
namespace {

struct Announcement {
  std::size_t bytes = 0;
  std::array<char, 400> error{};
};

/// PE 0's text for everyone, through the exchange of lane 0.
std::string shared_text(detail::TeamState& team, const std::string& path) {
  std::string text;
  Announcement mine;
  if (team.pe() == 0) {
    try {
      text = detail::read_tuning_text(path);
      mine.bytes = text.size();
    } catch (const Error& error) {
      std::string(error.what()).copy(mine.error.data(), mine.error.size() - 1);
    }
  }
  detail::Lane& lane = team.lane(0);
  std::vector<Announcement> all(static_cast<std::size_t>(team.pes()));
  lane.exchange(&mine, sizeof mine, all.data());
  if (all[0].error[0] != '\0') throw Error(ErrorCode::Tuning, all[0].error.data());
  text.resize(all[0].bytes);
  std::vector<char> parts(detail::kExchangeBytes * static_cast<std::size_t>(team.pes()));
  for (std::size_t at = 0; at < text.size(); at += detail::kExchangeBytes) {
    const std::size_t part = std::min(detail::kExchangeBytes, text.size() - at);
    lane.exchange(text.data() + at, part, parts.data());
    std::copy_n(parts.data(), part, text.data() + at);  // PE 0's comes first
  }
  return text;
}

/// What PE 0 has against the file, on all PEs; empty if nothing.
std::string agreed_refusal(detail::TeamState& team, const Tuning& tuning) {
  std::array<char, 400> mine{};
  if (team.pe() == 0) {
    const auto differing = differences(tuning, this_machine(), team.pes());
    fmt::format("{}", fmt::join(differing, "; ")).copy(mine.data(), mine.size() - 1);
  }
  std::vector<std::array<char, 400>> all(static_cast<std::size_t>(team.pes()));
  team.lane(0).exchange(mine.data(), mine.size(), all.data());
  return all[0].data();
}

}  // namespace

Explanation explain(const Team& team, Problem problem) {
  detail::TeamState& state = team.state();
  problem.pes = state.pes();
  problem.nodes = team.nodes();
  problem.reachable = state.all_direct();
  problem.shared_address_space = state.shared_address_space();
  detail::TeamTuner& tuner = detail::TeamTuner::of(state);
  problem.line_ns = tuner.regime().line_ns();
  return tuner.explain(problem);
}

void load_tuning(Team& team, const std::string& path, bool any_machine) {
  detail::TeamState& state = team.state();
  const std::string text = shared_text(state, path);
  Tuning tuning = parse_tuning(text, path, state.world().options().extra_algorithms);
  const std::string refusal = any_machine ? std::string() : agreed_refusal(state, tuning);
  if (!refusal.empty()) {
    throw Error(ErrorCode::Tuning,
                fmt::format("{} was measured on another machine: {}", path, refusal));
  }
  detail::TeamTuner::of(state).use(std::move(tuning));
}

}  // namespace tutti
