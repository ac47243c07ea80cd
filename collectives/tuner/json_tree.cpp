// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "primitives/text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

using nlohmann::json;
using Kind = JsonNode::Kind;

constexpr std::size_t kMostLevels = 8;
constexpr std::size_t kMostKeys = 64;
constexpr std::size_t kMostNameInPath = 60;  ///< no key that is read has so long a name

/// Finds the tokens of a text that the lexer has already accepted: its events come without
/// positions, but in the order of the text.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) next_ = 3;
  }

  /// The offset of the next token, which is `bytes` long.
  std::size_t fixed(std::size_t bytes) {
    const std::size_t start = skip_separators();
    next_ = start + bytes;
    return start;
  }
  std::size_t string() {
    const std::size_t start = skip_separators();
    next_ = start + 1;
    while (text_[next_] != '"') next_ += text_[next_] == '\\' ? 2 : 1;
    ++next_;
    return start;
  }
  /// Its characters are `written(start)`.
  std::size_t number() {
    const std::size_t start = skip_separators();
    next_ = std::min(text_.find_first_not_of("0123456789+-.eE", start), text_.size());
    return start;
  }
  std::string_view written(std::size_t start) const { return text_.substr(start, next_ - start); }

 private:
  std::size_t skip_separators() const { return text_.find_first_not_of(" \t\r\n,:", next_); }

  std::string_view text_;
  std::size_t next_ = 0;
};

/// nlohmann/json's SAX interface, which keeps no positions and lets duplicate keys pass; this
/// builder adds both.
class TreeBuilder : public nlohmann::json_sax<json> {
 public:
  explicit TreeBuilder(const JsonSource& source) : source_(source), cursor_(source.text()) {}

  JsonNode take() { return std::move(root_); }

  bool null() override {
    add(Kind::Null, cursor_.fixed(4));
    return true;
  }
  bool boolean(bool value) override {
    add(Kind::Boolean, cursor_.fixed(value ? 4 : 5)).number = value ? 1 : 0;
    return true;
  }
  bool number_integer(std::int64_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) override { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) override { return number(value); }
  bool string(std::string& value) override {
    add(Kind::String, cursor_.string()).text = std::move(value);
    return true;
  }
  bool binary(json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Kind::Object); }
  bool start_array(std::size_t) override { return open(Kind::Array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    JsonNode& object = *open_.back();
    const std::size_t offset = cursor_.string();
    const auto same = [&](const JsonNode::Key& other) { return other.name == name; };
    const auto first = std::ranges::find_if(object.keys, same);
    if (first != object.keys.end()) {
      source_.refuse(offset, path(),
                     fmt::format("duplicate key {}, first on line {}", in_quotes(name),
                                 source_.line(first->offset)));
    }
    if (object.keys.size() == kMostKeys) {
      source_.refuse(offset, path(), fmt::format("more than {} keys in an object", kMostKeys));
    }
    object.keys.push_back({std::move(name), offset});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const json::exception& error) override {
    std::string_view text = error.what();
    const std::size_t detail = text.find("column ");
    const std::size_t start =
        detail == std::string_view::npos ? text.find("] ") + 2 : text.find(": ", detail) + 2;
    text = text.substr(start);
    source_.refuse(position == 0 ? 0 : position - 1, path(), text.substr(0, 300));
  }

 private:
  bool number(double value) {
    const std::size_t offset = cursor_.number();
    JsonNode& node = add(Kind::Number, offset);
    node.text = cursor_.written(offset);
    node.number = value;
    return true;
  }

  bool open(Kind kind) {
    const std::size_t offset = cursor_.fixed(1);
    if (open_.size() == kMostLevels) {
      source_.refuse(offset, path(), fmt::format("nested deeper than {} levels", kMostLevels));
    }
    open_.push_back(&add(kind, offset));
    return true;
  }

  bool close() {
    cursor_.fixed(1);
    open_.pop_back();
    return true;
  }

  JsonNode& add(Kind kind, std::size_t offset) {
    JsonNode& node = open_.empty() ? root_ : open_.back()->items.emplace_back();
    node.kind = kind;
    node.offset = offset;
    return node;
  }

  /// Of the value that is being read.
  std::string path() const {
    std::string text;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const JsonNode& node = *open_[i];
      const bool complete = i + 1 == open_.size() && node.items.size() == node.keys.size();
      if (node.kind == Kind::Array) {
        const std::size_t index = i + 1 == open_.size() ? node.items.size() : node.items.size() - 1;
        text += fmt::format("[{}]", index);
      } else if (!node.keys.empty() && !complete) {
        const std::string_view name = node.keys.back().name;
        text.append(text.empty() ? "" : ".").append(name.substr(0, kMostNameInPath));
      }
    }
    return text;
  }

  const JsonSource& source_;
  TokenCursor cursor_;
  JsonNode root_;
  std::vector<JsonNode*> open_;
};

}  // namespace

std::size_t JsonSource::line(std::size_t offset) const noexcept {
  const auto newlines = std::ranges::count(text_.substr(0, offset), '\n');
  return static_cast<std::size_t>(newlines) + 1;
}

void JsonSource::refuse(std::size_t offset, std::string_view path, std::string_view text) const {
  const std::string_view before = text_.substr(0, offset);
  const std::string_view this_line = before.substr(before.find_last_of('\n') + 1);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  const auto continuations = std::ranges::count_if(this_line, continues);
  const std::size_t column = this_line.size() - static_cast<std::size_t>(continuations) + 1;
  // The text, the path and what the parser quotes may hold whatever the file does.
  const std::string reason =
      on_one_line(fmt::format("{}{}{}", path, path.empty() ? "" : ": ", text));
  throw Error(ErrorCode::Tuning, fmt::format("{}:{}:{}: {}", name_, line(offset), column, reason));
}

std::string_view kind_name(JsonNode::Kind kind) noexcept {
  switch (kind) {
    case Kind::Null:
      return "null";
    case Kind::Boolean:
      return "a boolean";
    case Kind::Number:
      return "a number";
    case Kind::String:
      return "a string";
    case Kind::Array:
      return "a list";
    case Kind::Object:
      break;
  }
  return "an object";
}

JsonNode parse_json_tree(const JsonSource& source) {
  TreeBuilder builder(source);
  const char* text = source.text().data();
  json::sax_parse(text, text + source.text().size(), &builder);
  return builder.take();
}

}  // namespace tutti::detail
