// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::gather {

extern const Algorithm kOneLine;
extern const Algorithm kDirect;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 2> kRegistry = {&kOneLine, &kDirect};

}  // namespace tutti::detail::gather
