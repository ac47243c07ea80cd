// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tutti/tuning.hpp"

namespace tutti::detail {

/// The facts that `differences` compares, as a text that travels between PEs, and back.
std::string machine_text(const MachineFacts& machine);
MachineFacts machine_from_text(const std::string& text);

}  // namespace tutti::detail
