// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/explain.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/cost.hpp"
#include "collectives/tuner/predicted.hpp"
#include "collectives/tuner/select.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti {
namespace detail {

Explanation explain(const Problem& problem, const Decision& decision, const Catalog& catalog,
                    const MachineFacts& machine) {
  const CostModel model = cost_model(machine, problem);
  Explanation record;
  record.problem = problem;
  record.algorithm = decision.algorithm;
  record.params = decision.params;
  record.where = decision.where;
  record.origin = decision.origin;
  if (decision.rule != nullptr) record.evidence = decision.rule->evidence;
  for (const SkippedRule& skipped : decision.skipped) record.warnings.push_back(skipped.reason);
  record.predicted_us = predicted_us(*decision.algorithm, decision.params, problem, model);
  for (const Algorithm* other : catalog.of(problem.collective)) {
    if (const char* reason = why_not(*other, problem)) {
      record.excluded.push_back({other->name, reason});
    }
  }
  for (const Prediction& other : predictions(problem, catalog, machine)) {
    if (other.algorithm == decision.algorithm) continue;
    if (record.runner_up && record.runner_up->predicted_us <= other.us) continue;
    record.runner_up = Explanation::Candidate{other.algorithm, other.us, other.params};
  }
  return record;
}

Explanation explain(const Problem& problem, const SelectorInput& input,
                    const MachineFacts& machine) {
  return explain(problem, select(problem, input), *input.catalog, machine);
}

}  // namespace detail

namespace {

std::string evidence_text(const Evidence& evidence) {
  std::string text =
      fmt::format("measured    {:.3g} us ({:.3g} to {:.3g}, {} rounds{})\n", evidence.median_us,
                  evidence.ci95_us[0], evidence.ci95_us[1], evidence.rounds,
                  evidence.bytes != 0 ? fmt::format(", {} bytes", evidence.bytes) : "");
  if (evidence.vs_builtin) {
    text += fmt::format("            built-in choice took {:.3g} times as long\n",
                        *evidence.vs_builtin);
  }
  if (!evidence.runner_up.empty() && evidence.runner_up_ratio) {
    text += fmt::format("            {} took {:.3g} to {:.3g} times as long\n", evidence.runner_up,
                        (*evidence.runner_up_ratio)[0], (*evidence.runner_up_ratio)[1]);
  }
  return text;
}

}  // namespace

std::string to_string(const Explanation& explanation) {
  std::string text =
      fmt::format("problem     {} ({})\nalgorithm   {}\nchosen by   {}: {}\n",
                  detail::describe(explanation.problem), regime_of(explanation.problem.line_ns),
                  describe(*explanation.algorithm, explanation.params), name_of(explanation.where),
                  explanation.origin);
  text += explanation.evidence ? evidence_text(*explanation.evidence)
          : explanation.where == Where::Model
              ? "measured    no: there is no rule for this problem\n"
              : "measured    no: whoever chose it has no evidence\n";
  text +=
      fmt::format("predicted   {:.3g} us (cost model, not measured)\n", explanation.predicted_us);
  if (explanation.runner_up) {
    const Explanation::Candidate& other = *explanation.runner_up;
    const bool initial = other.params == initial_params(*other.algorithm);
    text += fmt::format("runner-up   {}{}, predicted {:.3g} us\n", other.algorithm->name,
                        initial ? "" : ":store=stream", other.predicted_us);
  }
  for (const Explanation::Excluded& excluded : explanation.excluded) {
    text += fmt::format("excluded    {}: {}\n", excluded.name, excluded.reason);
  }
  for (const std::string& warning : explanation.warnings) {
    text += fmt::format("warning     {}\n", warning);
  }
  return text;
}

}  // namespace tutti
