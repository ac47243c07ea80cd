// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/tune/judge.hpp"

namespace tutti::tests {
namespace {

using namespace bench;

/// Two candidates; the second takes `factor` times as long in the rounds that report, and half of
/// that in those that choose.
CycleRounds cycle_of(Cycle cycle, double factor, std::vector<double> line_ns) {
  CycleRounds made;
  made.cycle = cycle;
  made.rounds.resize(2);
  for (std::size_t i = 0; i < line_ns.size(); ++i) {
    made.rounds[0].push_back(1e-6);
    made.rounds[1].push_back(1e-6 * (i % 2 == 0 ? factor / 2 : factor));
    made.mpi.push_back(5e-6);
  }
  made.line_ns = std::move(line_ns);
  return made;
}

std::vector<MeasuredCandidate> two_candidates() {
  std::vector<MeasuredCandidate> both(2);
  both[0].choice = "one_shot";
  both[1].choice = "ring";
  return both;
}

TEST(TuneJudge, one_half_of_the_rounds_chooses_and_the_other_half_reports) {
  const std::vector<CycleRounds> cycles = {cycle_of(Cycle::Same, 4, std::vector<double>(8, 50)),
                                           cycle_of(Cycle::Rotate, 9, std::vector<double>(10, 52))};
  const auto point = judge(cycles, two_candidates(), "near", 0);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->builtin, "one_shot");
  EXPECT_EQ(point->rounds, 8u) << "of the cycle that has fewest";
  EXPECT_EQ(point->candidates[1].regret, 3) << "the mean of 2 and 4.5";
  EXPECT_NEAR(point->candidates[1].vs_builtin->median, 1.0 / 6, 1e-4) << "the mean of 4 and 9";
  ASSERT_EQ(point->candidates[1].times.size(), 2u);
  EXPECT_EQ(point->candidates[1].times[0].us, (Interval{4, 4, 4}));
  EXPECT_EQ(point->mpi[1].us.median, 5);
}

TEST(TuneJudge, a_point_needs_enough_rounds_of_every_cycle_in_its_regime) {
  std::vector<double> moved(8, 50);
  moved.resize(20, 220);
  const std::vector<CycleRounds> cycles = {cycle_of(Cycle::Same, 2, std::vector<double>(20, 220)),
                                           cycle_of(Cycle::Rotate, 2, moved)};
  EXPECT_FALSE(judge(cycles, two_candidates(), "near", 0)) << "the first has none";
  const auto far = judge(cycles, two_candidates(), "far", 0);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->rounds, 12u);
  EXPECT_EQ(far->line_ns, 220);
}

TEST(TuneJudge, who_did_not_run_in_a_cycle_has_no_regret) {
  std::vector<CycleRounds> cycles = {cycle_of(Cycle::Same, 2, std::vector<double>(8, 50)),
                                     cycle_of(Cycle::Skew, 2, std::vector<double>(8, 50))};
  cycles[1].rounds[1].clear();
  const auto point = judge(cycles, two_candidates(), "near", 0);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->candidates[1].regret, 0);
  EXPECT_FALSE(point->candidates[1].vs_builtin);
}

TEST(TuneJudge, four_digits_are_kept) {
  EXPECT_EQ(rounded(1.23456), 1.235);
  EXPECT_EQ(rounded(0.000123456), 0.0001235);
  EXPECT_EQ(rounded(123456), 123500);
  EXPECT_EQ(rounded(0), 0);
}

}  // namespace
}  // namespace tutti::tests
