// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "tutti/tuning.hpp"

/// What the library itself chooses where nobody says anything.
namespace tutti::detail {

inline constexpr std::size_t kKi = 1024;
inline constexpr std::size_t kMi = 1024 * kKi;

inline const Catalog& library() {
  static const Catalog catalog = builtin_catalog();
  return catalog;
}

inline Decision chosen(const Problem& problem, const MachineFacts* machine = nullptr) {
  static const std::vector<Rule> rules = builtin_rules(library());
  SelectorInput input;
  input.catalog = &library();
  input.built_in = rules;
  input.machine = machine;
  return select(problem, input);
}

/// The name, and what is not initial.
inline std::string choice_of(const Decision& decision) {
  std::string text = decision.algorithm->name;
  for (std::size_t i = 0; i < decision.algorithm->parameters.size(); ++i) {
    const Parameter& parameter = decision.algorithm->parameters[i];
    if (decision.params[i] == parameter.initial || parameter.choices.empty()) continue;
    text += std::string(":") + parameter.name + "=" +
            parameter.choices[static_cast<std::size_t>(decision.params[i])];
  }
  return text;
}

inline Problem problem_of(Collective collective, int pes, int line_ns,
                          Memory memory = Memory::Private) {
  Problem problem;
  problem.collective = collective;
  problem.dtype = DType::U8;
  problem.memory = memory;
  problem.pes = pes;
  problem.line_ns = line_ns;
  return problem;
}

}  // namespace tutti::detail
