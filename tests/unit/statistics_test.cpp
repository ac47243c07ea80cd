// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tutti::bench {
namespace {

TEST(Statistics, a_median_of_few_samples_has_the_whole_range_as_interval) {
  const Estimate e = estimate({3, 1, 2});
  EXPECT_EQ(e.median, 2);
  EXPECT_EQ(e.low, 1);
  EXPECT_EQ(e.high, 3);
  EXPECT_EQ(estimate({}).median, 0);
}

TEST(Statistics, the_interval_covers_the_true_median_in_about_95_of_100_experiments) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> skewed(0, 1);  // its median is 1
  for (const int n : {7, 15, 31, 61}) {
    int covered = 0;
    for (int experiment = 0; experiment < 2000; ++experiment) {
      std::vector<double> samples(static_cast<std::size_t>(n));
      for (double& sample : samples) sample = skewed(random);
      const Estimate e = estimate(samples);
      covered += e.low <= 1 && 1 <= e.high ? 1 : 0;
    }
    EXPECT_GE(covered, 1860) << n;  // 93 %
    EXPECT_LE(covered, 1996) << n;  // 99.8 %: not simply the whole range
  }
}

TEST(Statistics, ratios_pair_blocks_and_skip_what_was_not_measured) {
  EXPECT_EQ(ratios({2, 9, 8}, {1, 3}), (std::vector<double>{2, 3}));
  EXPECT_EQ(ratios({2, 9}, {0, 3}), (std::vector<double>{3}));
}

}  // namespace
}  // namespace tutti::bench
