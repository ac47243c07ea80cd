// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/moe.hpp"

namespace tutti::moe {

namespace dispatch {
extern const DispatchAlgorithm kPublishPull;
}
namespace combine {
extern const CombineAlgorithm kPublishPull;
}

/// The built-in algorithms; the first is the default.
inline constexpr std::array kDispatchAlgorithms = {&dispatch::kPublishPull};
inline constexpr std::array kCombineAlgorithms = {&combine::kPublishPull};

}  // namespace tutti::moe
