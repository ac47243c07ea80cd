// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::ring_shift {

extern const Algorithm kOneLine;
extern const Algorithm kDirect;
extern const Algorithm kSymmetricPush;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 3> kRegistry = {&kOneLine, &kDirect, &kSymmetricPush};

}  // namespace tutti::detail::ring_shift
