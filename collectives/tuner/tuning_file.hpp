// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tutti::detail {

/// The text of a file of at most 4 MiB; throws `Error` (Tuning).
std::string read_tuning_text(const std::string& path);

}  // namespace tutti::detail
