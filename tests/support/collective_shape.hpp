// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "support/collective_data.hpp"
#include "support/collective_grid.hpp"

// What each collective takes and gives: sizes of its buffers, and what must be in the output.

namespace tutti::tests {

inline bool has_root(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce ||
         collective == Collective::Gather || collective == Collective::Scatter ||
         collective == Collective::Gatherv || collective == Collective::Scatterv;
}

/// The shift of a call whose root would be `root`: the same modulo `pes`, up and down the ring, and
/// around it more than once.
inline int shift_of(int root, int pes) { return root % 2 == 0 ? root + pes : root - 2 * pes; }

/// Where PE `pe`'s block begins if `count` elements are shared out as evenly as can be.
inline std::size_t even_begin(const Cell& cell, int pes, int pe) {
  const auto p = static_cast<std::size_t>(pes);
  const auto i = static_cast<std::size_t>(pe);
  return i * (cell.count / p) + std::min(i, cell.count % p);
}
inline std::size_t even_count(const Cell& cell, int pes, int pe) {
  return even_begin(cell, pes, pe + 1) - even_begin(cell, pes, pe);
}

/// Elements of PE `pe`'s buffers; who has no use for one has it nevertheless.
inline std::size_t in_count(const Cell& cell, int pes, int pe) {
  switch (cell.algorithm->collective) {
    case Collective::ReduceScatter:
    case Collective::Scatter:
    case Collective::Alltoall:
    case Collective::Alltoallv:
      return cell.count * static_cast<std::size_t>(pes);
    case Collective::Allgatherv:
    case Collective::Gatherv:
      return even_count(cell, pes, pe);
    default:
      return cell.count;
  }
}
inline std::size_t out_count(const Cell& cell, int pes, int pe) {
  switch (cell.algorithm->collective) {
    case Collective::Allgather:
    case Collective::Gather:
    case Collective::Alltoall:
    case Collective::Alltoallv:
      return cell.count * static_cast<std::size_t>(pes);
    case Collective::ReduceScatterv:
    case Collective::Scatterv:
      return even_count(cell, pes, pe);
    default:
      return cell.count;
  }
}

/// Whether this PE gets a result.
inline bool has_output(const Cell& cell, Team& team, int root) {
  const Collective collective = cell.algorithm->collective;
  return team.pe() == root ||
         (collective != Collective::Reduce && collective != Collective::Gather &&
          collective != Collective::Gatherv);
}

/// What element `i` of the output must be.
inline int expected_out(const Cell& cell, Team& team, std::size_t i, std::size_t call, int root) {
  const int pes = team.size();
  const std::size_t before = static_cast<std::size_t>(team.pe()) * cell.count;
  const std::size_t block = std::max<std::size_t>(cell.count, 1);
  const int from = static_cast<int>(i / block);
  switch (cell.algorithm->collective) {
    case Collective::Allreduce:
    case Collective::Reduce:
      return expected_of(pes, i, call, cell.op);
    case Collective::Allgather:
    case Collective::Gather:
      return value_of(from, i % block, call, cell.op);
    case Collective::ReduceScatter:
      return expected_of(pes, before + i, call, cell.op);
    case Collective::Scatter:
      return value_of(root, before + i, call, cell.op);
    case Collective::Alltoall:
    case Collective::Alltoallv:
      return value_of(from, before + i % block, call, cell.op);
    case Collective::Allgatherv:
    case Collective::Gatherv: {
      int owner = 0;
      while (i >= even_begin(cell, pes, owner + 1)) ++owner;
      return value_of(owner, i - even_begin(cell, pes, owner), call, cell.op);
    }
    case Collective::ReduceScatterv:
      return expected_of(pes, even_begin(cell, pes, team.pe()) + i, call, cell.op);
    case Collective::Scatterv:
      return value_of(root, even_begin(cell, pes, team.pe()) + i, call, cell.op);
    case Collective::RingShift:
      return value_of((team.pe() + pes - root) % pes, i, call, cell.op);
    case Collective::Broadcast:
      break;
  }
  return value_of(root, i, call, cell.op);
}

}  // namespace tutti::tests
