// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::allreduce {

extern const Algorithm kOneLine;
extern const Algorithm kOneShot;
extern const Algorithm kTwoShot;
extern const Algorithm kSymmetricPush;
extern const Algorithm kSymmetricPull;
extern const Algorithm kRing;
extern const Algorithm kRecursiveDoubling;
extern const Algorithm kRabenseifner;
extern const Algorithm kTree;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 9> kRegistry = {
    &kOneLine, &kOneShot,           &kTwoShot,      &kSymmetricPush, &kSymmetricPull,
    &kRing,    &kRecursiveDoubling, &kRabenseifner, &kTree};

}  // namespace tutti::detail::allreduce
