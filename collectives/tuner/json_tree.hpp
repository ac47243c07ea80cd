// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::detail {

/// A named text whose offsets can be told to people.
class JsonSource {
 public:
  JsonSource(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  std::string_view text() const noexcept { return text_; }
  std::string_view name() const noexcept { return name_; }
  /// From 1.
  std::size_t line(std::size_t offset) const noexcept;
  /// Throws `Error` (Tuning): "name:line:column: path: text"; columns count characters from 1.
  [[noreturn]] void refuse(std::size_t offset, std::string_view path, std::string_view text) const;

 private:
  std::string_view text_;
  std::string_view name_;
};

/// One JSON value that knows where it stands.
struct JsonNode {
  enum class Kind : std::uint8_t { Null, Boolean, Number, String, Array, Object };
  struct Key {
    std::string name;
    std::size_t offset;
  };

  Kind kind = Kind::Null;
  std::size_t offset = 0;       ///< of its first character
  std::string text;             ///< a string's value; a number's characters as written
  double number = 0;            ///< a number's value, rounded; true = 1
  std::vector<JsonNode> items;  ///< of an array or an object
  std::vector<Key> keys;        ///< of an object: `keys[i]` names `items[i]`
};

/// "null", "a boolean", "a number", ...
std::string_view kind_name(JsonNode::Kind kind) noexcept;

/// Parses strictly: no comments, duplicate keys, trailing text or invalid UTF-8; at most 8 levels
/// and 64 keys an object. Errors: as `JsonSource::refuse`.
JsonNode parse_json_tree(const JsonSource& source);

}  // namespace tutti::detail
