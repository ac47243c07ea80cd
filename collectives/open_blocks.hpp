// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "collectives/schedule/partition.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail {

// What goes straight from buffer to buffer, once they are open (`Execution::open_buffers`). Blocks
// are in elements.

/// Opens the buffers, lets `move` touch others', and waits until all have: step 2 says that my move
/// is done.
template <class Move>
void move_in_open_buffers(Execution& x, Move&& move) {
  x.open_buffers();
  move();
  x.publish(2);
  x.await_all(2);
}

/// My input, which is this block of all outputs, into each of them.
inline void push_block(Execution& x, const BlockRange& block) {
  const std::size_t element = element_bytes(x.problem());
  const std::size_t bytes = block.size * element;
  for (int i = 0; i < x.pes(); ++i) {
    const int pe = ring_place(x.pe(), i, x.pes());  // not all to PE 0 at once
    x.copy(x.write_out(pe, block.begin * element, bytes), x.in(), bytes);
  }
}

/// `out`: the fold of this block of all inputs, in PE order.
inline void fold_block(Execution& x, const BlockRange& block, std::byte* out) {
  const std::size_t element = element_bytes(x.problem());
  const auto sources = x.sources();
  for (int pe = 0; pe < x.pes(); ++pe) {
    sources[static_cast<std::size_t>(pe)] =
        x.read_in(pe, block.begin * element, block.size * element);
  }
  x.fold(out, sources, block.size);
}

}  // namespace tutti::detail
