// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/integers.hpp"
#include "collectives/tuner/json_tree.hpp"
#include "collectives/tuner/suggest.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// A value with its source and JSON path: all that a refusal needs. The functions below convert it
/// or refuse it.
struct JsonValue {
  const JsonSource& source;
  const JsonNode& node;
  std::string path;

  [[noreturn]] void refuse(std::string_view text) const { source.refuse(node.offset, path, text); }
  /// Refuses values of other kinds: "expected a list, got a number".
  void expect(JsonNode::Kind kind, std::string_view what) const;
  JsonValue item(std::size_t index) const;

  std::uint64_t integer(const IntegerRule& rule) const;
  std::int64_t parameter(const Parameter& parameter) const;
  /// Not negative, finite, at most 10^15.
  double real() const;
  const std::string& string() const;
  /// A list of two values; for a `Range` null is an open end.
  Range range(const IntegerRule& rule) const;
  std::array<double, 2> interval() const;
  /// A list [median, low, high].
  Interval estimate() const;
  bool boolean() const;

  /// An enumerator by its `name_of`; there are `count`.
  template <class Enum>
  Enum enumerator(std::string_view kind, std::size_t count) const;
};

/// An object of which only known keys are allowed.
class JsonObject {
 public:
  JsonObject(JsonValue value, std::span<const std::string_view> valid_keys);

  bool has(std::string_view key) const noexcept { return index_of(key) < value_.node.keys.size(); }
  /// The value of a key; refuses an object without it.
  JsonValue at(std::string_view key) const;
  const JsonValue& value() const noexcept { return value_; }

 private:
  std::size_t index_of(std::string_view key) const noexcept;

  JsonValue value_;
};

template <class Enum>
Enum JsonValue::enumerator(std::string_view kind, std::size_t count) const {
  const std::string& name = string();
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(name_of(static_cast<Enum>(i)));
    if (names.back() == name) return static_cast<Enum>(i);
  }
  refuse(unknown_name(kind, name, names));
}

}  // namespace tutti::detail
