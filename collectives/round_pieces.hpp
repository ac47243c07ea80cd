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

/// One piece of every block at a time: where it lies in buffers with all blocks, and in staging,
/// where each block's piece begins at a line of its own.
class Pieces {
 public:
  Pieces(const Problem& problem, const Params& params, std::size_t staged)
      : plan_(pipeline(problem, params, staged)), element_(element_bytes(problem)) {}

  std::size_t count() const { return plan_.chunks; }
  bool wraps() const { return plan_.wraps; }
  void take(std::size_t k) { part_ = plan_.part(k); }

  /// Of the piece taken: elements and bytes of it, where it begins in a buffer of one block and in
  /// one of all, and where the piece of the i-th block that is staged begins.
  std::size_t size() const { return part_.size; }
  std::size_t bytes() const { return part_.size * element_; }
  std::size_t offset() const { return part_.begin * element_; }
  std::size_t offset(int block) const {
    return static_cast<std::size_t>(block) * plan_.count * element_ + offset();
  }
  std::size_t place(std::size_t i) const { return i * whole_granules(bytes()); }
  std::size_t place(int i) const { return place(static_cast<std::size_t>(i)); }

 private:
  Pipeline plan_;
  std::size_t element_;
  Part part_;
};

}  // namespace tutti::detail::round_pieces
