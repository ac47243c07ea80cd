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
extern const Algorithm kSymmetricPull;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 6> kRegistry = {
    &kOneLine, &kFlat, &kSymmetricPull, &kBinomial, &kChain, &kScatterAllgather};

}  // namespace tutti::detail::broadcast
