// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tutti/team.hpp"

namespace tutti::bench {

/// Collective: one line a PE on the memory that a symmetric tensor of it lies in: huge pages and
/// NUMA node, as the PE itself and as its neighbour maps it.
std::vector<std::string> memory_of_all(Team& team);

}  // namespace tutti::bench
