// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/json_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "primitives/text.hpp"

namespace tutti::detail {

using Kind = JsonNode::Kind;

void JsonValue::expect(Kind kind, std::string_view what) const {
  if (node.kind == kind) return;
  refuse(fmt::format("expected {}, got {}", what, kind_name(node.kind)));
}

JsonValue JsonValue::item(std::size_t index) const {
  return {source, node.items[index], fmt::format("{}[{}]", path, index)};
}

std::uint64_t JsonValue::integer(const IntegerRule& rule) const {
  if (!(rule.size && node.kind == Kind::String)) expect(Kind::Number, "a whole number");
  const IntegerResult result = read_integer(node.text, rule);
  if (!result.refusal.empty()) refuse(result.refusal);
  return result.bits;
}

std::int64_t JsonValue::parameter(const Parameter& parameter) const {
  if (parameter.choices.empty()) return static_cast<std::int64_t>(integer(rule_of(parameter)));
  expect(Kind::String, "the name of a choice");
  const IntegerResult result = read_parameter(parameter, node.text);
  if (!result.refusal.empty()) refuse(result.refusal);
  return static_cast<std::int64_t>(result.bits);
}

double JsonValue::real() const {
  constexpr double kMost = 1e15;
  expect(Kind::Number, "a number");
  if (!(node.number >= 0 && node.number <= kMost)) {
    refuse(fmt::format("{} is out of range; allowed: 0 to 1e15", in_quotes(node.text)));
  }
  return node.number;
}

const std::string& JsonValue::string() const {
  expect(Kind::String, "a string");
  return node.text;
}

Range JsonValue::range(const IntegerRule& rule) const {
  constexpr std::string_view kForm = "a list [low, high], null = open";
  expect(Kind::Array, kForm);
  if (node.items.size() != 2) {
    refuse(fmt::format("expected {}, got {} values", kForm, node.items.size()));
  }
  Range range;
  if (node.items[0].kind != Kind::Null) range.low = item(0).integer(rule);
  if (node.items[1].kind != Kind::Null) range.high = item(1).integer(rule);
  if (range.low && range.high && *range.high < *range.low) {
    refuse(fmt::format("low {} is above high {}", *range.low, *range.high));
  }
  return range;
}

std::array<double, 2> JsonValue::interval() const {
  expect(Kind::Array, "a list [low, high]");
  if (node.items.size() != 2) {
    refuse(fmt::format("expected a list [low, high], got {} values", node.items.size()));
  }
  const std::array<double, 2> ends = {item(0).real(), item(1).real()};
  if (ends[1] < ends[0]) refuse("low is above high");
  return ends;
}

Interval JsonValue::estimate() const {
  constexpr std::string_view kForm = "a list [median, low, high]";
  expect(Kind::Array, kForm);
  if (node.items.size() != 3) {
    refuse(fmt::format("expected {}, got {} values", kForm, node.items.size()));
  }
  const Interval said = {item(0).real(), item(1).real(), item(2).real()};
  if (said.median < said.low || said.high < said.median) {
    refuse("low <= median <= high does not hold");
  }
  return said;
}

bool JsonValue::boolean() const {
  expect(Kind::Boolean, "true or false");
  return node.number != 0;
}

JsonObject::JsonObject(JsonValue value, std::span<const std::string_view> valid_keys)
    : value_(std::move(value)) {
  value_.expect(Kind::Object, "an object");
  for (const JsonNode::Key& key : value_.node.keys) {
    if (std::ranges::find(valid_keys, key.name) != valid_keys.end()) continue;
    value_.source.refuse(key.offset, value_.path, unknown_name("key", key.name, valid_keys));
  }
}

std::size_t JsonObject::index_of(std::string_view key) const noexcept {
  const auto& keys = value_.node.keys;
  const auto found = std::ranges::find(keys, key, &JsonNode::Key::name);
  return static_cast<std::size_t>(found - keys.begin());
}

JsonValue JsonObject::at(std::string_view key) const {
  const std::size_t index = index_of(key);
  if (index == value_.node.keys.size()) value_.refuse(fmt::format("missing key '{}'", key));
  const std::string_view dot = value_.path.empty() ? "" : ".";
  return {value_.source, value_.node.items[index], fmt::format("{}{}{}", value_.path, dot, key)};
}

}  // namespace tutti::detail
