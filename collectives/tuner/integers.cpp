// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/integers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "collectives/tuner/suggest.hpp"
#include "primitives/text.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

constexpr std::string_view kIntegerRule =
    "a whole number is written with digits only, without fraction or exponent";

enum class Form { Digits, Number, Other };

Form form_of(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return Form::Other;
  const bool plain = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (plain) return Form::Digits;
  const bool number = digits.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  return number ? Form::Number : Form::Other;
}

std::optional<std::uint64_t> magnitude_of(std::string_view digits) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool fits(bool negative, std::uint64_t magnitude, const IntegerRule& rule) {
  if (!negative || magnitude == 0) {
    const bool above_min = rule.min <= 0 || magnitude >= static_cast<std::uint64_t>(rule.min);
    return above_min && magnitude <= rule.max;
  }
  return rule.min < 0 && magnitude <= 0 - static_cast<std::uint64_t>(rule.min);
}

std::string allowed(const IntegerRule& rule) {
  const std::string sizes = rule.size ? fmt::format(" or a size as \"64K\": {}", kSizeRule) : "";
  return fmt::format("allowed: {} to {}{}", rule.min, rule.max, sizes);
}

}  // namespace

IntegerResult read_integer(std::string_view text, const IntegerRule& rule) {
  const Form form = form_of(text);
  const bool negative = text.starts_with('-');
  std::optional<std::uint64_t> magnitude;
  if (form == Form::Digits) {
    magnitude = magnitude_of(text.substr(negative ? 1 : 0));
    if (!magnitude)
      return {0, fmt::format("{} is out of range; {}", in_quotes(text), allowed(rule))};
  } else if (rule.size) {
    magnitude = read_size(text);
  }
  if (!magnitude) {
    const std::string_view why = form == Form::Number ? kIntegerRule : "not a whole number";
    return {0, fmt::format("{}: {}; {}", in_quotes(text), why, allowed(rule))};
  }
  if (!fits(negative, *magnitude, rule)) {
    return {0, fmt::format("{} is out of range; {}", text, allowed(rule))};
  }
  return {negative ? 0 - *magnitude : *magnitude, {}};
}

IntegerRule rule_of(const Parameter& parameter) {
  return {parameter.min, static_cast<std::uint64_t>(parameter.max),
          std::string_view(parameter.name).ends_with("_bytes")};
}

IntegerResult read_parameter(const Parameter& parameter, std::string_view text) {
  if (parameter.choices.empty()) return read_integer(text, rule_of(parameter));
  std::vector<std::string_view> names;
  for (std::int64_t i = parameter.min; i <= parameter.max; ++i) {
    names.emplace_back(parameter.choices[static_cast<std::size_t>(i)]);
    if (names.back() == text) return {static_cast<std::uint64_t>(i), {}};
  }
  return {0, unknown_name("choice", text, names)};
}

int parameter_index(const Algorithm& algorithm, std::string_view name) noexcept {
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    if (algorithm.parameters[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string unknown_parameter(const Algorithm& algorithm, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : algorithm.parameters) names.emplace_back(parameter.name);
  return unknown_name(fmt::format("parameter of {}", algorithm.name), name, names);
}

}  // namespace tutti::detail
