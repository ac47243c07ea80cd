// SPDX-License-Identifier: Apache-2.0
#include "moe/routing.hpp"

#include <algorithm>

namespace tutti::moe {
namespace {

bool is_active(const Mask& mask, std::size_t token) {
  if (!mask.given) return true;
  const auto* flag = static_cast<const unsigned char*>(mask.data) + token * mask.width;
  return std::any_of(flag, flag + mask.width, [](unsigned char byte) { return byte != 0; });
}

/// Fills `slot`, `index` and `active`; begin[s + 1] counts the entries of slot s.
template <class Id>
std::optional<BadId> count(const Placement& placement, const Id* ids, const Mask& mask,
                           Routing& routing) {
  for (std::size_t token = 0; token < routing.tokens; ++token) {
    const bool active = is_active(mask, token);
    routing.active[token] = active ? 1 : 0;
    for (std::size_t k = 0; k < routing.topk; ++k) {
      const std::size_t at = token * routing.topk + k;
      routing.slot[at] = Routing::kNone;
      if (!active || ids[at] == -1) continue;
      if (ids[at] < 0 || ids[at] >= placement.experts) return BadId{token, k, ids[at]};
      const auto slot = placement.slot_of[static_cast<std::size_t>(ids[at])];
      routing.slot[at] = static_cast<std::uint32_t>(slot);
      routing.index[at] = routing.begin[static_cast<std::size_t>(slot) + 1]++;
    }
  }
  return std::nullopt;
}

}  // namespace

Routing::Routing(const Placement& placement, std::size_t max_tokens, std::size_t ids_a_token)
    : topk(ids_a_token),
      begin(static_cast<std::size_t>(placement.experts) + 1),
      entries(max_tokens * ids_a_token),
      slot(max_tokens * ids_a_token),
      index(max_tokens * ids_a_token),
      active(max_tokens) {}

void clear(Routing& routing) {
  routing.tokens = 0;
  std::ranges::fill(routing.begin, 0);
}

std::optional<BadId> route(const Placement& placement, std::size_t tokens, const Ids& ids,
                           const Mask& mask, Routing& routing) {
  clear(routing);
  routing.tokens = tokens;
  const auto bad =
      ids.wide ? count(placement, static_cast<const std::int64_t*>(ids.data), mask, routing)
               : count(placement, static_cast<const std::int32_t*>(ids.data), mask, routing);
  if (bad) {
    clear(routing);
    return bad;
  }
  for (std::size_t s = 1; s < routing.begin.size(); ++s) routing.begin[s] += routing.begin[s - 1];
  for (std::size_t at = 0; at < tokens * routing.topk; ++at) {
    if (routing.slot[at] == Routing::kNone) continue;
    routing.entries[routing.begin[routing.slot[at]] + routing.index[at]] = {
        static_cast<std::uint32_t>(at / routing.topk),
        static_cast<std::uint32_t>(at % routing.topk)};
  }
  return std::nullopt;
}

}  // namespace tutti::moe
