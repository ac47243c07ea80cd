// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::detail {

/// How the PEs of a team find out that all of them are there. What each waits for:
enum class BarrierKind : std::uint8_t {
  Flat,           ///< every other PE: one step, p - 1 lines to read
  Dissemination,  ///< one PE in each of log2 p steps, at doubling distances
  Tree,           ///< its children and then its parent, `kBarrierFanout` to a parent
};

inline constexpr int kBarrierFanout = 4;

std::string_view name_of(BarrierKind kind) noexcept;

/// What a team of `pes` runs where nobody insists. `crowded`: its PEs may have to take turns on the
/// CPUs, or are reached by messages.
BarrierKind usual_barrier(int pes, bool crowded) noexcept;

/// The `barrier=...` in a text like that of TUTTI_ALGORITHM, if there is one. Errors: `Tuning` for
/// another name than these, or for two of them; `origin` says where the text is from.
std::optional<BarrierKind> forced_barrier(std::string_view text, std::string_view origin);
inline constexpr std::string_view kBarrierName = "barrier";

}  // namespace tutti::detail
