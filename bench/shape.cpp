// SPDX-License-Identifier: Apache-2.0
#include "bench/shape.hpp"

#include <algorithm>

namespace tutti::bench {

Shape shape_of(Collective collective) {
  switch (collective) {
    case Collective::Allgather:
    case Collective::Allgatherv:
      return {.in = Holds::Block, .out = Holds::Blocks};
    case Collective::ReduceScatter:
    case Collective::ReduceScatterv:
      return {.in = Holds::Blocks, .out = Holds::Block};
    case Collective::Gather:
    case Collective::Gatherv:
      return {.in = Holds::Block, .out = Holds::Blocks, .only_root_has_out = true};
    case Collective::Scatter:
    case Collective::Scatterv:
      return {.in = Holds::Blocks, .out = Holds::Block, .only_root_has_in = true};
    case Collective::Alltoall:
    case Collective::Alltoallv:
      return {.in = Holds::Blocks, .out = Holds::Blocks};
    case Collective::Reduce:
      return {.only_root_has_out = true};
    case Collective::Allreduce:
    case Collective::Broadcast:
    case Collective::RingShift:
      break;
  }
  return {};
}

std::size_t whole_elements(Collective collective, std::size_t elements, int pes) {
  const auto p = static_cast<std::size_t>(pes);
  if (has_blocks(collective)) return std::max<std::size_t>(1, elements / p) * p;
  // Of uneven blocks the first has one part.
  return std::max<std::size_t>(elements, has_counts(collective) ? p * (p + 1) / 2 : 1);
}

Blocks::Blocks(std::size_t elements, int pes, bool uneven) {
  const auto p = static_cast<std::size_t>(pes);
  const std::size_t parts = p * (p + 1) / 2;
  for (std::size_t i = 0; i <= p; ++i) {
    const std::size_t before = i * (i + 1) / 2;
    // In two steps, so that nothing overflows.
    begins_.push_back(uneven ? elements / parts * before + elements % parts * before / parts
                             : elements / p * i);
  }
}

int Blocks::owner(std::size_t index) const {
  const auto after = std::ranges::upper_bound(begins_, index);
  return static_cast<int>(after - begins_.begin()) - 1;
}

std::size_t in_elements(const Shape& shape, const Blocks& blocks, int pe, std::size_t vector) {
  if (shape.in == Holds::Vector) return vector;
  return shape.in == Holds::Block ? blocks.size(pe) : blocks.total();
}

std::size_t out_elements(const Shape& shape, const Blocks& blocks, int pe, std::size_t vector) {
  if (shape.out == Holds::Vector) return vector;
  if (shape.out == Holds::Block) return blocks.size(pe);
  return shape.in == Holds::Block ? blocks.total()
                                  : blocks.size(pe) * static_cast<std::size_t>(blocks.pes());
}

Source source_of(const Shape& shape, const Blocks& blocks, int pe, std::size_t index) {
  if (shape.out == Holds::Block) return {kRoot, blocks.begin(pe) + index};
  if (shape.out == Holds::Vector) return {kRoot, index};
  if (shape.in == Holds::Block) {
    const int from = blocks.owner(index);
    return {from, index - blocks.begin(from)};
  }
  return {static_cast<int>(index / blocks.size(pe)), blocks.begin(pe) + index % blocks.size(pe)};
}

}  // namespace tutti::bench
