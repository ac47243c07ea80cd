// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::gatherv {

extern const Algorithm kDirect;

inline constexpr std::array<const Algorithm*, 1> kRegistry = {&kDirect};

}  // namespace tutti::detail::gatherv
