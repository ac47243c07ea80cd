// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::scatterv {

extern const Algorithm kDirect;

inline constexpr std::array<const Algorithm*, 1> kRegistry = {&kDirect};

}  // namespace tutti::detail::scatterv
