// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/tuner/select.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// What `select` decides, with its reasons; `machine` feeds the cost model.
Explanation explain(const Problem& problem, const SelectorInput& input,
                    const MachineFacts& machine);

/// The record of a decision that was taken before.
Explanation explain(const Problem& problem, const Decision& decision, const Catalog& catalog,
                    const MachineFacts& machine);

}  // namespace tutti::detail
