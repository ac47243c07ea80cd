// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "primitives/barrier.hpp"
#include "primitives/text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"flat", "dissemination", "tree"};

/// Up to here a PE reads hardly more lines in one step than it would in several, one by one.
constexpr int kMostFlatPes = 4;

BarrierKind barrier_from(std::string_view name, std::string_view origin) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<BarrierKind>(i);
  }
  throw Error(ErrorCode::Tuning, fmt::format("{}: unknown algorithm of barrier {}; there are {}",
                                             origin, in_quotes(name), fmt::join(kNames, ", ")));
}

}  // namespace

std::string_view name_of(BarrierKind kind) noexcept {
  return kNames[static_cast<std::size_t>(kind)];
}

// Each step of a PE that has to take turns costs a change of context, whatever it reads.
BarrierKind usual_barrier(int pes, bool crowded) noexcept {
  return pes <= kMostFlatPes || crowded ? BarrierKind::Flat : BarrierKind::Dissemination;
}

std::optional<BarrierKind> forced_barrier(std::string_view text, std::string_view origin) {
  std::optional<BarrierKind> forced;
  for (const std::string_view part : split(text, ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || trimmed(part.substr(0, equals)) != kBarrierName) {
      continue;
    }
    if (forced) throw Error(ErrorCode::Tuning, fmt::format("{}: barrier is given twice", origin));
    forced = barrier_from(trimmed(part.substr(equals + 1)), origin);
  }
  return forced;
}

}  // namespace tutti::detail
