// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tutti::detail {

// An arrival word: call number (52 bits), fingerprint (12 bits; 0 = the PE refuses the call).
inline constexpr std::uint64_t kFingerprintBits = 12;
inline constexpr std::uint64_t kFingerprintMask = (std::uint64_t{1} << kFingerprintBits) - 1;

constexpr std::uint64_t call_of(std::uint64_t arrival) noexcept {
  return arrival >> kFingerprintBits;
}
constexpr bool is_refusal(std::uint64_t arrival) noexcept {
  return (arrival & kFingerprintMask) == 0;
}

}  // namespace tutti::detail
