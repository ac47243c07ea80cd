// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "bench/tune/choosing.hpp"

namespace tutti::bench {

/// "one_shot" of "one_shot:lag=1" and of "one_shot (built-in)".
std::string_view algorithm_of(std::string_view choice);

nlohmann::ordered_json to_triple(const Interval& us);

/// A section of the page: the points of one kind of problem in one regime. Times are by cycle,
/// {"same": [median, low, high], ...}, and "mean", which is there where all cycles of the row are;
/// "cycle" is the one to show first.
nlohmann::ordered_json row_data(const Row& row);

}  // namespace tutti::bench
