// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// The rules that hold where nobody says anything else and somebody has measured, resolved once at
/// start-up. Rows that name an algorithm or a parameter that `catalog` does not have are left out
/// and described in `unresolved`, if given; with the library's own registries there are none.
std::vector<Rule> builtin_rules(const Catalog& catalog,
                                std::vector<std::string>* unresolved = nullptr);

}  // namespace tutti::detail
