// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::ring_pieces {

// Blocks that travel around the ring of PEs in pieces (allgather, reduce_scatter): parameters and
// plan that they share.

enum : std::size_t { kRingBytes, kChunkBytes };
inline constexpr std::array<Parameter, 2> kParameters = {ring_parameter(4 << 20),
                                                         chunk_parameter(1 << 18)};

inline std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return std::max(
      ring_of(params[kRingBytes]),
      Pipeline::least_ring(element_bytes(problem), 1, 1, static_cast<std::size_t>(problem.pes)));
}

/// A piece is staged up to p - 1 times, each time in a range of its own; two ranges at least fit.
inline Pipeline pipeline(const Problem& problem, const Params& params) {
  const std::size_t ring_bytes = scratch_bytes(problem, params);
  const auto times = static_cast<std::size_t>(problem.pes);
  const std::size_t element = element_bytes(problem);
  Pipeline plan =
      Pipeline::plan(problem.count, element, static_cast<std::size_t>(params[kChunkBytes]), 1,
                     ring_bytes, 1, times);
  plan.wraps = plan.wraps || times * plan.chunks * (plan.chunk * element + 128) > ring_bytes / 2;
  return plan;
}

}  // namespace tutti::detail::ring_pieces
