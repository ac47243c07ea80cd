// SPDX-License-Identifier: Apache-2.0
#include "collectives/kernels/user_fold.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::detail {

void user_fold(const UserFold& fold, std::span<std::byte> room, std::span<std::byte* const> outs,
               std::span<const std::byte* const> sources, std::size_t count) {
  // Not in an output at once: that may be a source that is still to come.
  const std::size_t most = room.size() / fold.element_bytes;
  for (std::size_t at = 0; at < count; at += most) {
    const std::size_t n = std::min(most, count - at);
    const std::size_t offset = at * fold.element_bytes;
    const std::size_t bytes = n * fold.element_bytes;
    std::memcpy(room.data(), sources[0] + offset, bytes);
    for (const std::byte* next : sources.subspan(1)) {
      fold.call(fold, room.data(), next + offset, n);
    }
    for (std::byte* out : outs) std::memcpy(out + offset, room.data(), bytes);
  }
}

}  // namespace tutti::detail
