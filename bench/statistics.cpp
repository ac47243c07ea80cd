// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::bench {

Estimate estimate(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const std::size_t n = samples.size();
  const double median = n % 2 == 1 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
  if (n < 6) return {median, samples.front(), samples.back()};
  // P(the median lies below order statistic k) is Binomial(n, 1/2); the normal approximation with
  // its continuity correction is within one rank of the exact value from n = 6 up.
  const double half = 0.98 * std::sqrt(static_cast<double>(n));
  const auto rank =
      static_cast<std::size_t>(std::max(0.0, std::floor(static_cast<double>(n) / 2.0 - half)));
  return {median, samples[rank], samples[n - 1 - rank]};
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (b[i] > 0) all.push_back(a[i] / b[i]);
  }
  return all;
}

}  // namespace tutti::bench
