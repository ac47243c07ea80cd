// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::broadcast {

extern const Algorithm kOneLine;
extern const Algorithm kFlat;
extern const Algorithm kBinomial;
extern const Algorithm kChain;
extern const Algorithm kScatterAllgather;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 5> kRegistry = {&kOneLine, &kFlat, &kBinomial,
                                                              &kChain, &kScatterAllgather};

}  // namespace tutti::detail::broadcast
