// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::detail {

/// The valid name with the smallest edit distance, or empty if none is near.
std::string_view nearest(std::string_view name, std::span<const std::string_view> valid);

/// "unknown key 'lne_ns'; did you mean 'line_ns'? Valid: bytes, line_ns, pes"
std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> valid);

}  // namespace tutti::detail
