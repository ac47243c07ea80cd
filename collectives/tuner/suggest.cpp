// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "primitives/text.hpp"

namespace tutti::detail {
namespace {

/// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> valid) {
  constexpr std::size_t kLongestName = 60;
  if (name.size() > kLongestName) return {};
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string_view candidate : valid) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < std::min(least, candidate.size())) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> valid) {
  std::string text = fmt::format("unknown {} {}; ", kind, in_quotes(name));
  const std::string_view near = nearest(name, valid);
  if (!near.empty()) text += fmt::format("did you mean '{}'? ", near);
  return text +
         (valid.empty() ? "there are none" : fmt::format("Valid: {}", fmt::join(valid, ", ")));
}

}  // namespace tutti::detail
