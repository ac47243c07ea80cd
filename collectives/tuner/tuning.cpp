// SPDX-License-Identifier: Apache-2.0
#include "tutti/tuning.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/choice.hpp"
#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/json.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "collectives/tuner/tuning_file.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"

namespace tutti {

Tuning parse_tuning(std::string_view text, std::string_view origin_name,
                    std::span<const Algorithm* const> extra_algorithms) {
  return detail::parse_tuning(text, origin_name, detail::builtin_catalog(extra_algorithms));
}

Tuning read_tuning(const std::string& path, std::span<const Algorithm* const> extra_algorithms) {
  return parse_tuning(detail::read_tuning_text(path), path, extra_algorithms);
}

std::vector<Forced> parse_forced(std::string_view text, std::string_view origin,
                                 std::span<const Algorithm* const> extra_algorithms) {
  return detail::parse_forced(text, origin, detail::builtin_catalog(extra_algorithms));
}

Forced parse_choice(Collective collective, std::string_view text, std::string_view origin,
                    std::span<const Algorithm* const> extra_algorithms) {
  return detail::parse_choice(collective, text, origin, detail::builtin_catalog(extra_algorithms));
}

Explanation explain(const Problem& problem, const Tuning& tuning, const ExplainOptions& options) {
  const detail::Catalog catalog = detail::builtin_catalog(options.extra_algorithms);
  const std::vector<Rule> built_in = detail::builtin_rules(catalog);
  const std::vector<Forced> environment =
      detail::parse_forced(options.environment, "TUTTI_ALGORITHM", catalog);
  detail::SelectorInput input;
  input.catalog = &catalog;
  input.environment = environment;
  input.file = tuning.rules;
  input.built_in = built_in;
  input.machine = &tuning.machine;
  if (options.call.empty()) return detail::explain(problem, input, tuning.machine);
  const Forced call = detail::parse_choice(problem.collective, options.call, "call", catalog);
  input.call = &call;
  return detail::explain(problem, input, tuning.machine);
}

std::vector<std::string> outdated(const Tuning& file) {
  std::vector<std::string> lines;
  if (!file.sweep) return lines;
  for (const SweepFacts::Revision& then : file.sweep->algorithms) {
    for (const Algorithm* algorithm : algorithms(then.collective)) {
      if (algorithm->name != then.algorithm || algorithm->revision == then.revision) continue;
      lines.push_back(fmt::format("{} {}: revision {} in the file, {} here",
                                  name_of(then.collective), then.algorithm, then.revision,
                                  algorithm->revision));
    }
  }
  return lines;
}

}  // namespace tutti
