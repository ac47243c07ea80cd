// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/select.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/predicted.hpp"
#include "collectives/tuner/rules.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/error.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

Decision decide(const Algorithm& algorithm, const Params& params, Where where, std::string origin,
                const Rule* rule = nullptr) {
  Decision decision;
  decision.algorithm = &algorithm;
  decision.params = params;
  decision.where = where;
  decision.origin = std::move(origin);
  decision.rule = rule;
  decision.hash = hash_of(
      fmt::format("{}/{}", name_of(algorithm.collective), tutti::describe(algorithm, params)));
  return decision;
}

std::string supporting(const Problem& problem, const Catalog& catalog) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : catalog.of(problem.collective)) {
    if (why_not(*algorithm, problem) == nullptr) names.emplace_back(algorithm->name);
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Decision decide_forced(const Problem& problem, const Forced& forced, Where where,
                       const Catalog& catalog) {
  const std::string choice = tutti::describe(*forced.algorithm, forced.params);
  if (forced.collective != problem.collective) {
    throw Error(ErrorCode::Tuning,
                fmt::format("{}: {} is an algorithm of {}, the call is {}", forced.origin, choice,
                            name_of(forced.collective), describe(problem)));
  }
  if (const char* reason = why_not(*forced.algorithm, problem)) {
    throw Error(ErrorCode::Tuning,
                fmt::format("{}: {} cannot solve {}: {}; algorithms that can: {}", forced.origin,
                            choice, describe(problem), reason, supporting(problem, catalog)));
  }
  return decide(*forced.algorithm, forced.params, where, forced.origin);
}

/// The first rule that matches and can be followed; `skipped` collects the others that match.
const Rule* first_rule(const Problem& problem, std::span<const Rule> rules,
                       std::vector<SkippedRule>* skipped) {
  for (const Rule& rule : rules) {
    if (!rule.matches(problem)) continue;
    const char* reason = why_not(*rule.algorithm, problem);
    if (reason == nullptr) return &rule;
    if (skipped == nullptr) continue;
    skipped->push_back(
        {&rule, fmt::format("{}: {} cannot solve {}: {}; the rule is skipped", rule.origin,
                            rule.algorithm->name, describe(problem), reason)});
  }
  return nullptr;
}

/// Where nothing was measured.
Decision decide_by_model(const Problem& problem, const SelectorInput& input) {
  const MachineFacts unknown;
  const std::vector<Prediction> all =
      predictions(problem, *input.catalog, input.machine == nullptr ? unknown : *input.machine);
  if (const Prediction* best = preferred(all)) {
    return decide(*best->algorithm, best->params, Where::Model, "predicted by the cost model");
  }
  std::string reasons;
  for (const Algorithm* algorithm : input.catalog->of(problem.collective)) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", algorithm->name,
                           why_not(*algorithm, problem));
  }
  throw Error(ErrorCode::Unsupported,
              fmt::format("no algorithm can solve {} ({})", describe(problem),
                          reasons.empty() ? "there is none" : reasons));
}

}  // namespace

const char* why_not(const Algorithm& algorithm, const Problem& problem) {
  if (problem.contract == Contract::Ordered && reduces(problem.collective) &&
      !algorithm.keeps_ordered) {
    return "it does not keep the contract 'ordered'";
  }
  if (!problem.commutative && !algorithm.keeps_order && !algorithm.keeps_ordered) {
    return "it does not keep the order of the PEs, and the operation is not commutative";
  }
  return algorithm.supports(problem);
}

std::string describe(const Problem& problem) {
  const bool reducing = reduces(problem.collective);
  std::string elements(name_of(problem.dtype));
  if (problem.dtype == DType::User) {
    elements += fmt::format(" of {} bytes", problem.element_bytes);
  } else if (reducing) {
    elements += fmt::format(" {}", name_of(problem.op));
  }
  if (!problem.commutative) elements += ", not commutative";
  return fmt::format("{} of {} bytes ({} {}), {}{}{}, {} PE{} on {} node{}, line {} ns{}{}",
                     name_of(problem.collective), bytes_of(problem), problem.count, elements,
                     name_of(problem.memory), reducing ? ", " : "",
                     reducing ? name_of(problem.contract) : "", problem.pes,
                     problem.pes == 1 ? "" : "s", problem.nodes, problem.nodes == 1 ? "" : "s",
                     problem.line_ns, problem.reachable ? "" : ", not reachable by load and store",
                     problem.shared_address_space ? ", threads of one process" : "");
}

Decision select(const Problem& problem, const SelectorInput& input) {
  if (input.call != nullptr) {
    return decide_forced(problem, *input.call, Where::Call, *input.catalog);
  }
  for (const Forced& forced : input.environment) {
    if (forced.collective != problem.collective) continue;
    return decide_forced(problem, forced, Where::Environment, *input.catalog);
  }
  std::vector<SkippedRule> skipped;
  const auto follow = [&](const Rule& rule, Where where) {
    Decision decision = decide(*rule.algorithm, rule.params, where, rule.origin, &rule);
    decision.skipped = std::move(skipped);
    return decision;
  };
  if (const Rule* rule = first_rule(problem, input.file, &skipped)) {
    return follow(*rule, Where::File);
  }
  if (const Rule* rule = first_rule(problem, input.built_in, nullptr)) {
    return follow(*rule, Where::BuiltIn);
  }
  Decision decision = decide_by_model(problem, input);
  decision.skipped = std::move(skipped);
  return decision;
}

}  // namespace tutti::detail
