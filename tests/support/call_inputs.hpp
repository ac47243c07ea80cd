// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::tests {

// Inputs that differ by PE, call and place, for tests that make many calls.

using Vector = std::vector<std::int64_t>;

inline Vector input(int pe, int call, std::size_t count) {
  Vector values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = (pe + 1) * 1000 + call * 17 + static_cast<std::int64_t>(i);
  }
  return values;
}
inline Vector sum_of_inputs(int pes, int call, std::size_t count) {
  Vector sum(count);
  for (int pe = 0; pe < pes; ++pe) {
    const Vector each = input(pe, call, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += each[i];
  }
  return sum;
}

/// Blocks of 3, 5, 7, ... elements.
inline std::vector<std::size_t> uneven_counts(int pes) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(pes));
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = 3 + 2 * i;
  return counts;
}

}  // namespace tutti::tests
