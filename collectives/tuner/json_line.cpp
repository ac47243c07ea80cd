// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/json_line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::detail {

using Json = nlohmann::ordered_json;

std::string json_line(const Json& value) {
  if (!value.is_structured()) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string text;
  for (const auto& [key, item] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += json_line(Json(key)) + ": ";
    text += json_line(item);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

Json finite(double value, std::string_view what) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::Tuning, fmt::format("{} is {}, which JSON cannot hold", what, value));
  }
  return value;
}

}  // namespace tutti::detail
