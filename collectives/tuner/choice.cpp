// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/integers.hpp"
#include "collectives/tuner/suggest.hpp"
#include "primitives/barrier.hpp"
#include "primitives/text.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/error.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

constexpr std::string_view kForm =
    "the form is collective=algorithm:parameter=value,parameter=value;collective=...";

[[noreturn]] void refuse(std::string_view origin, const std::string& text) {
  throw Error(ErrorCode::Tuning, fmt::format("{}: {}", origin, text));
}

void read_assignment(std::string_view assignment, std::vector<bool>& seen, Forced& choice) {
  const Algorithm& algorithm = *choice.algorithm;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    refuse(choice.origin, fmt::format("{} has no '='; {}", in_quotes(assignment), kForm));
  }
  const std::string_view name = trimmed(assignment.substr(0, equals));
  const int index = parameter_index(algorithm, name);
  if (index < 0) refuse(choice.origin, unknown_parameter(algorithm, name));
  const auto i = static_cast<std::size_t>(index);
  if (seen[i]) refuse(choice.origin, fmt::format("{} is given twice", name));
  seen[i] = true;
  const IntegerResult value =
      read_parameter(algorithm.parameters[i], trimmed(assignment.substr(equals + 1)));
  if (!value.refusal.empty()) {
    refuse(choice.origin, fmt::format("{}.{}: {}", algorithm.name, name, value.refusal));
  }
  choice.params[i] = static_cast<std::int64_t>(value.bits);
}

}  // namespace

Forced parse_choice(Collective collective, std::string_view text, std::string_view origin,
                    const Catalog& catalog) {
  const std::size_t colon = text.find(':');
  const std::string_view name = trimmed(text.substr(0, colon));
  Forced choice;
  choice.collective = collective;
  choice.origin = origin;
  choice.algorithm = catalog.find(collective, name);
  if (choice.algorithm == nullptr) {
    refuse(origin, unknown_name(fmt::format("algorithm of {}", name_of(collective)), name,
                                catalog.names(collective)));
  }
  choice.params = initial_params(*choice.algorithm);
  if (colon == std::string_view::npos) return choice;
  std::vector<bool> seen(choice.algorithm->parameters.size());
  for (const std::string_view assignment : split(text.substr(colon + 1), ',')) {
    read_assignment(assignment, seen, choice);
  }
  return choice;
}

std::vector<Forced> parse_forced(std::string_view text, std::string_view origin,
                                 const Catalog& catalog) {
  forced_barrier(text, origin);  // checks it; whoever makes teams reads it there
  std::vector<Forced> choices;
  for (const std::string_view part : split(text, ';')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || part.find(':') < equals) {
      refuse(origin, fmt::format("{} names no collective; {}", in_quotes(part), kForm));
    }
    const std::string_view name = trimmed(part.substr(0, equals));
    if (name == kBarrierName) continue;
    Collective collective{};
    try {
      collective = collective_from(name);
    } catch (const Error& error) {
      refuse(origin, error.what());
    }
    const auto same = [&](const Forced& other) { return other.collective == collective; };
    if (std::ranges::any_of(choices, same)) {
      refuse(origin, fmt::format("{} is given twice", name_of(collective)));
    }
    choices.push_back(parse_choice(collective, part.substr(equals + 1), origin, catalog));
  }
  return choices;
}

}  // namespace tutti::detail
