// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::broadcast {

// What every broadcast through the staging ring has in common: pieces of the vector, staged by
// whoever has readers, copied out by whoever has a parent.

enum : std::size_t { kRingBytes, kChunkBytes, kStore };
inline constexpr std::array<Parameter, 3> kParameters = {
    ring_parameter(2 << 20), chunk_parameter(1 << 18), store_parameter()};

constexpr std::size_t scratch_bytes(const Problem&, const Params& params) {
  return ring_of(params[kRingBytes]);
}

constexpr Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(problem.count, size_of(problem.dtype),
                        static_cast<std::size_t>(params[kChunkBytes]), 0,
                        ring_of(params[kRingBytes]));
}

/// `parent`: PE that I read from, or -1 for the root; `staging`: whether anyone reads from me.
/// Piece k is published by step k + 1; `consumed` k + 1 says that I have read it.
inline void pass_on(Execution& x, const Params& params, int parent, bool staging) {
  const Pipeline plan = pipeline(x.problem(), params);
  const std::size_t element = size_of(x.problem().dtype);
  for (std::size_t k = 0; k < plan.chunks; ++k) {
    const Part part = plan.part(k);
    const std::size_t bytes = part.size * element;
    std::byte* mine = x.out() + part.begin * element;
    const Staged range = x.reserve(bytes, k + 1);  // by all, so that positions stay equal
    if (parent >= 0) {
      x.await(parent, k + 1);
      x.copy(mine, x.read(parent, range, 0, bytes), bytes);
    }
    if (staging) x.stage(range, 0, mine, bytes, store_of(params[kStore]));
    if (staging || k == 0) x.publish(k + 1);
    if (plan.wraps) x.consumed(k + 1);
  }
}

inline Traffic pass_on_traffic(const Problem& problem, const Params& params, bool root,
                               bool staging) {
  const Pipeline plan = pipeline(problem, params);
  const std::uint64_t bytes = bytes_of(problem);
  return {(staging ? plan.chunks : 1) + (plan.wraps ? plan.chunks : 0), staging ? bytes : 0,
          root ? 0 : bytes, 0};
}

}  // namespace tutti::detail::broadcast
