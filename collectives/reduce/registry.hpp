// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::reduce {

extern const Algorithm kOneLine;
extern const Algorithm kDirect;
extern const Algorithm kSymmetricPull;
extern const Algorithm kBinomial;

/// Simplest first.
inline constexpr std::array<const Algorithm*, 4> kRegistry = {&kOneLine, &kDirect, &kSymmetricPull,
                                                              &kBinomial};

}  // namespace tutti::detail::reduce
