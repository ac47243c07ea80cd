// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::allreduce {

extern const Algorithm kOneLine;
extern const Algorithm kOneShot;
extern const Algorithm kTwoShot;
extern const Algorithm kSymmetricPush;
extern const Algorithm kRing;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 5> kRegistry = {&kOneLine, &kOneShot, &kTwoShot,
                                                              &kSymmetricPush, &kRing};

}  // namespace tutti::detail::allreduce
