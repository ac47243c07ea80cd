// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"

namespace tutti::detail::allgatherv {

extern const Algorithm kDirect;
extern const Algorithm kSymmetricPush;

inline constexpr std::array<const Algorithm*, 2> kRegistry = {&kDirect, &kSymmetricPush};

}  // namespace tutti::detail::allgatherv
