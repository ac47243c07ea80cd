// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::reduce_scatterv {

extern const Algorithm kDirect;
extern const Algorithm kSymmetricPull;

inline constexpr std::array<const Algorithm*, 2> kRegistry = {&kDirect, &kSymmetricPull};

}  // namespace tutti::detail::reduce_scatterv
