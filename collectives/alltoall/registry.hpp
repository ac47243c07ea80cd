// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::alltoall {

extern const Algorithm kOneLine;
extern const Algorithm kDirect;
extern const Algorithm kPairwise;
extern const Algorithm kBruck;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 4> kRegistry = {&kOneLine, &kDirect, &kPairwise,
                                                              &kBruck};

}  // namespace tutti::detail::alltoall
