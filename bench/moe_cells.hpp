// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/cells.hpp"
#include "tutti/team.hpp"

namespace tutti::bench {

/// A dispatch and a combine of one layer: `moe/glm45/uniform/auto/tokens:8`.
struct MoeCell {
  int experts = 0;
  int topk = 0;
  std::size_t hidden = 0;
  std::size_t tokens = 0;  ///< of each PE
  bool hot = false;        ///< half of all ids go to the experts of PE 0
};
struct NamedMoeCell {
  std::string name;
  MoeCell cell;
};

std::vector<NamedMoeCell> all_moe_cells();

/// Produce the tokens, dispatch, touch and copy each row as an expert would, combine, read the
/// output. Beside it the same reading and writing without any exchange. Every element of the output
/// is checked in an untimed round.
PrimitiveResult measure_moe(Team& team, const MoeCell& cell, int rounds);

}  // namespace tutti::bench
