// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/algorithm.hpp"
#include "tutti/error.hpp"
#include "tutti/problem.hpp"

namespace tutti::detail {
namespace {

bool is_snake_case(const char* name) noexcept {
  if (name == nullptr || *name < 'a' || *name > 'z') return false;
  return std::ranges::all_of(std::string_view(name), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::InvalidArgument, text); }

void check_parameter(const Algorithm& algorithm, const Parameter& parameter) {
  if (!is_snake_case(parameter.name)) {
    refuse(
        fmt::format("algorithm {}: a parameter's name is not one snake_case word", algorithm.name));
  }
  const auto same_name = [&](const Parameter& other) {
    return std::string_view(other.name ? other.name : "") == parameter.name;
  };
  if (std::ranges::count_if(algorithm.parameters, same_name) != 1) {
    refuse(
        fmt::format("algorithm {}: two parameters are named {}", algorithm.name, parameter.name));
  }
  if (parameter.initial < parameter.min || parameter.max < parameter.initial || parameter.max < 0) {
    refuse(fmt::format(
        "algorithm {}: {} must have min <= initial <= max and max >= 0, has {}, {}, {}",
        algorithm.name, parameter.name, parameter.min, parameter.initial, parameter.max));
  }
  const auto choices = static_cast<std::int64_t>(parameter.choices.size());
  if (choices > 0 && (parameter.min < 0 || parameter.max >= choices)) {
    refuse(fmt::format("algorithm {}: {} has {} choices and the range {} to {}", algorithm.name,
                       parameter.name, choices, parameter.min, parameter.max));
  }
}

}  // namespace

Catalog::Catalog(std::span<const Algorithm* const> algorithms) {
  for (const Algorithm* algorithm : algorithms) add(*algorithm);
}

void Catalog::add(const Algorithm& algorithm) {
  if (!is_snake_case(algorithm.name)) refuse("an algorithm's name is not one snake_case word");
  if (!algorithm.supports || !algorithm.scratch_bytes || !algorithm.traffic || !algorithm.run) {
    refuse(fmt::format("algorithm {}: a function of its descriptor is missing", algorithm.name));
  }
  if (algorithm.parameters.size() > kMaxParameters) {
    refuse(fmt::format("algorithm {}: {} parameters, allowed are {}", algorithm.name,
                       algorithm.parameters.size(), kMaxParameters));
  }
  for (const Parameter& parameter : algorithm.parameters) check_parameter(algorithm, parameter);
  if (find(algorithm.collective, algorithm.name) != nullptr) {
    refuse(fmt::format("there are two algorithms {} of {}", algorithm.name,
                       name_of(algorithm.collective)));
  }
  algorithms_[static_cast<std::size_t>(algorithm.collective)].push_back(&algorithm);
}

std::span<const Algorithm* const> Catalog::of(Collective collective) const noexcept {
  return algorithms_[static_cast<std::size_t>(collective)];
}

const Algorithm* Catalog::find(Collective collective, std::string_view name) const noexcept {
  for (const Algorithm* algorithm : of(collective)) {
    if (algorithm->name == name) return algorithm;
  }
  return nullptr;
}

std::vector<std::string_view> Catalog::names(Collective collective) const {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : of(collective)) names.emplace_back(algorithm->name);
  return names;
}

}  // namespace tutti::detail
