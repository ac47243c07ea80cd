// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tutti::detail {

/// The borders of `regime_of`, in ns of a line transfer: near is below the first, far above the
/// second; 0 is not known.
inline constexpr int kNearBelow = 80;
inline constexpr int kFarAbove = 150;

}  // namespace tutti::detail
