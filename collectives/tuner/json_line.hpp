// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tutti::detail {

/// On one line, with a space after each colon and comma.
std::string json_line(const nlohmann::ordered_json& value);

/// The number. Throws `Error` (Tuning), naming `what`, for one that JSON cannot hold.
nlohmann::ordered_json finite(double value, std::string_view what);

}  // namespace tutti::detail
