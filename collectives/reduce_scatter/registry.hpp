// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::reduce_scatter {

extern const Algorithm kOneLine;
extern const Algorithm kDirect;
extern const Algorithm kSymmetricPull;
extern const Algorithm kRing;
extern const Algorithm kPairwise;
extern const Algorithm kRecursiveHalving;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 6> kRegistry = {
    &kOneLine, &kDirect, &kSymmetricPull, &kRing, &kPairwise, &kRecursiveHalving};

}  // namespace tutti::detail::reduce_scatter
