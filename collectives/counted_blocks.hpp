// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/parameters.hpp"
#include "collectives/staged_blocks.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail {

// Collectives whose blocks have lengths of their own. Everyone walks through the chunks of the
// longest block; a shorter one has empty chunks at the end, so positions stay equal.

inline std::size_t longest_block(const Execution& x) {
  std::size_t longest = 0;
  for (int pe = 0; pe < x.pes(); ++pe) longest = std::max(longest, x.in_block(pe).size);
  return longest;
}

/// PE `pe`'s block if a problem's elements are shared out as evenly as can be; PE 0's is longest.
inline std::size_t even_count(const Problem& problem, int pe) {
  return part_of(static_cast<std::size_t>(pe), static_cast<std::size_t>(problem.pes), problem.count)
      .size;
}

/// As `StagedBlocks`, for blocks of any lengths. Pieces are published by the steps after
/// `first_step`.
class CountedBlocks {
 public:
  CountedBlocks(Execution& x, const Pipeline& plan, StoreKind store, std::uint64_t first_step = 0)
      : x_(x),
        plan_(plan),
        element_(element_bytes(x.problem())),
        store_(store),
        first_step_(first_step) {}

  /// Calls read(k) for each piece, `lag` pieces behind the staging. `read` awaits `step(k)` of
  /// whomever it reads from.
  template <class Read>
  void pass(Read&& read) {
    for (std::size_t i = 0; i < plan_.chunks + plan_.lag; ++i) {
      if (i < plan_.chunks) {
        reserve(i);
        stage(i);
      }
      if (i < plan_.lag) continue;
      read(i - plan_.lag);
      consumed(i - plan_.lag);
    }
  }

  std::size_t pieces() const { return plan_.chunks; }

  /// The steps of `pass`, for who takes other roads: everyone reserves every piece.
  void reserve(std::size_t k) {
    staged_[k % staged_.size()] =
        x_.reserve(stride(k) * static_cast<std::size_t>(x_.pes() - 1), step(k));
  }
  void stage(std::size_t k) {
    for (int owner = 0; owner < x_.pes(); ++owner) {
      if (owner == x_.pe()) continue;
      const BlockRange block = x_.in_block(owner);
      x_.stage(staged_[k % staged_.size()], place(x_.pe(), owner) * stride(k),
               x_.in() + offset(block, k), piece(block, k).size * element_, store_, owner);
    }
    x_.publish(step(k));
  }
  void consumed(std::size_t k) {
    if (plan_.wraps) x_.consumed(step(k));
  }

  std::uint64_t step(std::size_t k) const { return first_step_ + k + 1; }
  /// Piece k of a block, in elements of the block; and where it is in a buffer with all blocks.
  Part piece(const BlockRange& block, std::size_t k) const {
    return piece_of(k, block.size, plan_.chunk);
  }
  std::size_t offset(const BlockRange& block, std::size_t k) const {
    return (block.begin + piece(block, k).begin) * element_;
  }
  /// Piece k of what PE `pe` has for me, of `bytes`: in my input, or in its staging.
  const std::byte* from(int pe, std::size_t k, std::size_t bytes) {
    if (pe == x_.pe()) return x_.in() + offset(x_.in_block(pe), k);
    return x_.read(pe, staged_[k % staged_.size()], place(pe, x_.pe()) * stride(k), bytes);
  }

 private:
  /// Where `from` stages what `owner` reads: the others in order.
  static std::size_t place(int from, int owner) {
    return static_cast<std::size_t>(owner < from ? owner : owner - 1);
  }
  std::size_t stride(std::size_t k) const { return whole_granules(plan_.part(k).size * element_); }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  const std::uint64_t first_step_;
  std::array<Staged, 8> staged_;  // the pieces in flight: more than the largest lag
};

}  // namespace tutti::detail
