// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// As the public functions of these names, with the algorithms to choose from.
Forced parse_choice(Collective collective, std::string_view text, std::string_view origin,
                    const Catalog& catalog);
std::vector<Forced> parse_forced(std::string_view text, std::string_view origin,
                                 const Catalog& catalog);

}  // namespace tutti::detail
