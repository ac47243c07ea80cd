// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tutti::bench {

/// A median with a distribution-free interval at about 95 %.
struct Estimate {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// Of unordered samples. The interval is the pair of order statistics that binomial probability
/// gives; fewer than six samples give the whole range. Zero if there are none.
Estimate estimate(std::vector<double> samples);

/// a[i] / b[i], for blocks in which both were measured.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tutti::bench
