// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "collectives/rooted_pieces.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::broadcast {

// What broadcasts along a tree have in common: pieces of the vector, staged by whoever has readers,
// copied out by whoever has a parent.

using rooted_pieces::kParameters;
using rooted_pieces::scratch_bytes;

/// `parent`: PE that I read from, or -1 for the root; `staging`: whether anyone reads from me.
/// Piece k is published by step k + 1; `consumed` k + 1 says that I have read it. Whoever has a
/// parent says that it is here before it waits.
inline void pass_on(Execution& x, const Params& params, int parent, bool staging) {
  const Pipeline plan = rooted_pieces::pipeline(x.problem(), params);
  const std::size_t element = element_bytes(x.problem());
  for (std::size_t k = 0; k < plan.chunks; ++k) {
    const Part part = plan.part(k);
    const std::size_t bytes = part.size * element;
    std::byte* mine = x.out() + part.begin * element;
    const Staged range = x.reserve(bytes, k + 1);  // by all, so that positions stay equal
    if (parent >= 0) {
      x.await(parent, k + 1);
      x.copy(mine, x.read(parent, range, 0, bytes), bytes);
    }
    if (staging) x.stage(range, 0, mine, bytes, store_of(params[rooted_pieces::kStore]));
    if (staging) x.publish(k + 1);
    if (plan.wraps) x.consumed(k + 1);
  }
}

inline Traffic pass_on_traffic(const Problem& problem, const Params& params, bool root,
                               bool staging) {
  const Pipeline plan = rooted_pieces::pipeline(problem, params);
  const std::uint64_t bytes = bytes_of(problem);
  const std::uint64_t words =
      (root ? 0 : 1) + (staging ? plan.chunks : 0) + (plan.wraps ? plan.chunks : 0);
  return {words, staging ? bytes : 0, root ? 0 : bytes, 0};
}

}  // namespace tutti::detail::broadcast
