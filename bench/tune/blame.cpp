// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/blame.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::bench {

std::optional<Blame> agreed_blame(Team& team, const std::optional<ContenderFailed>& failure) {
  constexpr double kNothing = 3;
  constexpr double kDeadline = 1;
  double distance = kNothing;  // from the origin
  if (failure) {
    const ErrorCode code = failure->code();
    const bool told = code == ErrorCode::PeerFailed || code == ErrorCode::Poisoned;
    distance = told ? 2 : code == ErrorCode::Timeout ? kDeadline : 0;
  }
  const double nearest = smallest(team, distance);
  if (nearest == kNothing) return std::nullopt;
  const bool here = distance == nearest;
  const double far_away = 1e9;
  Blame blame;
  blame.hung = nearest == kDeadline;
  blame.contender = static_cast<std::size_t>(
      smallest(team, here ? static_cast<double>(failure->contender) : far_away));
  const int root = static_cast<int>(smallest(team, here ? team.pe() : far_away));
  std::array<std::uint8_t, 400> text{};
  if (team.pe() == root) {
    const std::string_view said = failure->what();
    std::ranges::copy(said.substr(0, text.size() - 1), text.begin());
  }
  broadcast(team, std::span(text), root);
  blame.reason = reinterpret_cast<const char*>(text.data());
  return blame;
}

}  // namespace tutti::bench
