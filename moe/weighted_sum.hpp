// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "tutti/types.hpp"

namespace tutti::moe {

/// out[i] = round(+0 + w[0] * rows[0][i] + w[1] * rows[1][i] + ...): in f32, every product and
/// every sum rounded, in this order; NaN becomes the canonical NaN. No rows: zeros. `rows` and
/// `weights` have the same size; `type` is F32, BF16 or F16; any alignment. The bits are the same
/// on all instruction sets.
void weighted_sum(DType type, void* out, std::span<const void* const> rows,
                  std::span<const float> weights, std::size_t count) noexcept;

}  // namespace tutti::moe
