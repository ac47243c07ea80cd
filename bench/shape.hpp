// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/problem.hpp"

/// What each collective takes and gives: pure functions.
namespace tutti::bench {

/// The root of collectives that have one.
inline constexpr int kRoot = 0;

/// What a buffer holds: a vector, one PE's block, or a block for each PE, one after the other.
enum class Holds : std::uint8_t { Vector, Block, Blocks };

/// A collective's buffers. Of rooted collectives only the root may have one.
struct Shape {
  Holds in = Holds::Vector;
  Holds out = Holds::Vector;
  bool only_root_has_in = false;
  bool only_root_has_out = false;
};
Shape shape_of(Collective collective);

/// Lengths of the PEs' blocks, in elements. Equal ones; or, where the collective has counts, as
/// uneven as a written rule makes them: PE i's block is i + 1 parts of p (p + 1) / 2, rounded so
/// that the blocks add up to the whole.
class Blocks {
 public:
  /// `elements`: all blocks together; equal blocks share them out and drop the remainder.
  Blocks(std::size_t elements, int pes, bool uneven);

  std::size_t begin(int pe) const { return begins_[static_cast<std::size_t>(pe)]; }
  std::size_t size(int pe) const { return begin(pe + 1) - begin(pe); }
  std::size_t total() const { return begins_.back(); }
  int pes() const { return static_cast<int>(begins_.size()) - 1; }
  /// Whose block element `index` is in.
  int owner(std::size_t index) const;

 private:
  std::vector<std::size_t> begins_;  ///< pes + 1
};

/// The elements that a measurement of `elements` really has, all blocks together: where each PE has
/// a block, at least one element a PE, and equal blocks drop the remainder; else at least one.
std::size_t whole_elements(Collective collective, std::size_t elements, int pes);

/// Elements of PE `pe`'s buffer on the in and the out side, whoever is root. With a block for each
/// PE on both sides, everyone sends PE j a block of `blocks.size(j)`.
std::size_t in_elements(const Shape& shape, const Blocks& blocks, int pe, std::size_t vector);
std::size_t out_elements(const Shape& shape, const Blocks& blocks, int pe, std::size_t vector);

/// Where an element of the output comes from where nothing is reduced.
struct Source {
  int pe = 0;
  std::size_t index = 0;  ///< in that PE's input
};
Source source_of(const Shape& shape, const Blocks& blocks, int pe, std::size_t index);

}  // namespace tutti::bench
