// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::allgather {

extern const Algorithm kOneLine;
extern const Algorithm kDirect;
extern const Algorithm kSymmetricPush;
extern const Algorithm kRing;
extern const Algorithm kBruck;
extern const Algorithm kRecursiveDoubling;
extern const Algorithm kNeighbourExchange;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 7> kRegistry = {
    &kOneLine,           &kDirect,           &kSymmetricPush, &kRing, &kBruck,
    &kRecursiveDoubling, &kNeighbourExchange};

}  // namespace tutti::detail::allgather
