// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tutti/types.hpp"

namespace tutti::detail {

/// Whether `accumulate_elements` takes this pair: the same type, or a 16-bit float into f32.
bool can_accumulate(DType to_type, DType from_type) noexcept;

/// to[i] += from[i] for `count` elements, each addition atomic: several PEs may accumulate into one
/// place at once, in an order that nobody promises. `to` is aligned to its element.
void accumulate_elements(std::byte* to, DType to_type, const std::byte* from, DType from_type,
                         std::size_t count) noexcept;

}  // namespace tutti::detail
