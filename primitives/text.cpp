// SPDX-License-Identifier: Apache-2.0
#include "primitives/text.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "tutti/error.hpp"
#include "tutti/text.hpp"

namespace tutti::detail {
namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

constexpr std::array<Unit, 5> kSizeUnits = {{{"T", std::uint64_t{1} << 40},
                                             {"G", std::uint64_t{1} << 30},
                                             {"M", std::uint64_t{1} << 20},
                                             {"K", std::uint64_t{1} << 10},
                                             {"", 1}}};
constexpr std::array<Unit, 5> kDurationUnits = {
    {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60'000}, {"h", 3'600'000}}};
constexpr std::uint64_t kLongestMs = 8760ull * 3'600'000;

template <std::size_t kUnits>
std::optional<std::uint64_t> read_with_unit(std::string_view text,
                                            const std::array<Unit, kUnits>& units,
                                            std::uint64_t most) noexcept {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& unit : units) {
    if (unit.suffix != suffix) continue;
    if (number > most / unit.factor) return std::nullopt;
    return number * unit.factor;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view kind,
                         std::string_view rule) {
  std::string message(what);
  message.append("=").append(in_quotes(text)).append(" is not a ").append(kind);
  message.append("; allowed: ").append(rule);
  throw Error(ErrorCode::InvalidArgument, message);
}

}  // namespace

std::optional<std::uint64_t> read_size(std::string_view text) noexcept {
  return read_with_unit(text, kSizeUnits, std::numeric_limits<std::uint64_t>::max());
}

std::optional<std::chrono::milliseconds> read_duration(std::string_view text) noexcept {
  const auto ms = read_with_unit(text, kDurationUnits, kLongestMs);
  if (!ms) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(*ms));
}

std::size_t parse_bytes(std::string_view what, std::string_view text) {
  const auto bytes = read_size(text);
  if (!bytes || *bytes > std::numeric_limits<std::size_t>::max()) {
    refuse(what, text, "size", kSizeRule);
  }
  return static_cast<std::size_t>(*bytes);
}

std::chrono::milliseconds parse_duration(std::string_view what, std::string_view text) {
  const auto duration = read_duration(text);
  if (!duration) refuse(what, text, "duration", kDurationRule);
  return *duration;
}

std::optional<int> read_number(std::string_view text, int low, int high) noexcept {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < low || number > high) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string size_text(std::size_t bytes) {
  for (const Unit& unit : kSizeUnits) {
    if (bytes % unit.factor == 0 && bytes >= unit.factor) {
      return std::to_string(bytes / unit.factor).append(unit.suffix);
    }
  }
  return "0";
}

std::string on_one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string out = "'" + on_one_line(text.substr(0, kMost));
  out.append(text.size() > kMost ? "...'" : "'");
  return out;
}

}  // namespace tutti::detail

namespace tutti {

std::size_t parse_size(std::string_view what, std::string_view text) {
  return detail::parse_bytes(what, text);
}

std::chrono::milliseconds parse_time(std::string_view what, std::string_view text) {
  return detail::parse_duration(what, text);
}

}  // namespace tutti
