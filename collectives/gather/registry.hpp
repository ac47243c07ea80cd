// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::gather {

extern const Algorithm kOneLine;
extern const Algorithm kDirect;
extern const Algorithm kPull;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 3> kRegistry = {&kOneLine, &kDirect, &kPull};

}  // namespace tutti::detail::gather
