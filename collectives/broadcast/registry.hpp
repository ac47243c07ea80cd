// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::broadcast {

extern const Algorithm kFlat;
extern const Algorithm kBinomial;
extern const Algorithm kChain;
extern const Algorithm kScatterAllgather;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 4> kRegistry = {&kFlat, &kBinomial, &kChain,
                                                              &kScatterAllgather};

}  // namespace tutti::detail::broadcast
