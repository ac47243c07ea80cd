// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::allgather {

extern const Algorithm kDirect;
extern const Algorithm kRing;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 2> kRegistry = {&kDirect, &kRing};

}  // namespace tutti::detail::allgather
