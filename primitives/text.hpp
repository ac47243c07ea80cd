// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::detail {

/// The one rule for sizes: decimal digits, then nothing (bytes) or one of K, M, G, T (powers of
/// 1024). No sign, space or fraction. Empty if `text` is not of this form or exceeds 64 bits.
std::optional<std::uint64_t> read_size(std::string_view text) noexcept;
inline constexpr std::string_view kSizeRule =
    "digits, then nothing (bytes) or one of K, M, G, T (powers of 1024)";

/// The one rule for durations: decimal digits, then nothing or s (seconds), ms, m (minutes) or h;
/// at most 8760h. Empty if `text` is not of this form.
std::optional<std::chrono::milliseconds> read_duration(std::string_view text) noexcept;
inline constexpr std::string_view kDurationRule =
    "digits, then nothing or s (seconds), ms, m (minutes) or h, at most 8760h";

/// The value of the variable or option `what`; throws `Error` (InvalidArgument) that names it, its
/// value and the rule.
std::size_t parse_bytes(std::string_view what, std::string_view text);
std::chrono::milliseconds parse_duration(std::string_view what, std::string_view text);

/// A decimal number from `low` to `high`. Empty if `text` is not of this form.
std::optional<int> read_number(std::string_view text, int low, int high) noexcept;

/// Without the spaces around it.
std::string_view trimmed(std::string_view text) noexcept;
/// The trimmed parts between separators; one, which may be empty, if there are none.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The shortest text that `read_size` reads as `bytes`: 65536 is "64K", 65537 is "65537".
std::string size_text(std::size_t bytes);

/// `text` for messages: control characters, which would break a line or command a terminal, are
/// replaced.
std::string on_one_line(std::string_view text);
/// At most 60 characters of `on_one_line(text)`, in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace tutti::detail
