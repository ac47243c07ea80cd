// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::broadcast {

extern const Algorithm kFlat;
extern const Algorithm kBinomial;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 2> kRegistry = {&kFlat, &kBinomial};

}  // namespace tutti::detail::broadcast
