// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::alltoall {

extern const Algorithm kDirect;
extern const Algorithm kPairwise;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 2> kRegistry = {&kDirect, &kPairwise};

}  // namespace tutti::detail::alltoall
