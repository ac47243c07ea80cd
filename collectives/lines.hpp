// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail {

// One block of each PE that came in its line; what `one_line` of several collectives does with
// them.

/// PE `pe`'s block: my input, or the payload of its line, which is awaited.
inline const std::byte* line_of(Execution& x, int pe) {
  return pe == x.pe() ? x.in() : x.await_line(pe, block_bytes(x.problem()));
}

/// The blocks of all PEs, in PE order, folded into my output.
inline void fold_lines(Execution& x) {
  const auto sources = x.sources();
  for (int pe = 0; pe < x.pes(); ++pe) sources[static_cast<std::size_t>(pe)] = line_of(x, pe);
  x.fold(x.out(), sources, x.problem().count);
}

/// The blocks of all PEs, one after the other, into my output.
inline void copy_lines(Execution& x) {
  const std::size_t block = block_bytes(x.problem());
  for (int pe = 0; pe < x.pes(); ++pe) {
    x.copy(x.out() + static_cast<std::size_t>(pe) * block, line_of(x, pe), block);
  }
}

}  // namespace tutti::detail
