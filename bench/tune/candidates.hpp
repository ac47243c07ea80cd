// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tutti/tutti.hpp"

namespace tutti::bench {

/// What a sweep tries for a problem: every algorithm that can solve it, with its initial parameters
/// first and then the variations that matter at this size. As `Call::algorithm` reads them.
std::vector<std::string> candidates(const Problem& problem);

}  // namespace tutti::bench
