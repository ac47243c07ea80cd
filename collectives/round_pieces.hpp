// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "collectives/parameters.hpp"
#include "collectives/ring_pieces.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::round_pieces {

// Blocks that are exchanged in rounds, a piece of each at a time, `staged` of them for each piece:
// what Bruck's, doubling and halving algorithms share. Parameters as for blocks around a ring.

using ring_pieces::kChunkBytes;
using ring_pieces::kParameters;
using ring_pieces::kRingBytes;

/// Each block is staged in lines of its own, so many PEs need a larger ring.
inline std::size_t scratch_bytes(const Problem& problem, const Params& params, std::size_t staged) {
  return std::max({ring_of(params[kRingBytes]), std::bit_ceil(staged * 1024),
                   Pipeline::least_ring(element_bytes(problem), 0, staged, staged)});
}

inline Pipeline pipeline(const Problem& problem, const Params& params, std::size_t staged) {
  return Pipeline::plan(problem.count, element_bytes(problem),
                        static_cast<std::size_t>(params[kChunkBytes]), 0,
                        scratch_bytes(problem, params, staged), staged, staged);
}

}  // namespace tutti::detail::round_pieces
