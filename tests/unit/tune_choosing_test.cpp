// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bench/tune/choosing.hpp"
#include "tune_points.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using ::testing::ElementsAre;

TEST(TuneChoosing, the_simplest_within_the_margin_wins) {
  EXPECT_EQ(simplest_of_best(std::vector<double>{1.02, 1.0, 1.5}), 0u);
  EXPECT_EQ(simplest_of_best(std::vector<double>{1.04, 1.0, 1.5}), 1u);
  EXPECT_EQ(simplest_of_best(std::vector<double>{0, 1.2, 1.18}), 1u) << "0 was not measured";
  EXPECT_EQ(simplest_of_best(std::vector<double>{0, 0}), std::nullopt);
}

TEST(TuneChoosing, halves_share_no_round_and_lose_none) {
  const Rounds rounds = {{1, 2, 3, 4, 5}, {}};
  EXPECT_THAT(half_of(rounds, 0)[0], ElementsAre(1, 3, 5));
  EXPECT_THAT(half_of(rounds, 1)[0], ElementsAre(2, 4));
  EXPECT_TRUE(half_of(rounds, 1)[1].empty());
}

TEST(TuneChoosing, a_round_belongs_to_the_regime_that_its_calibration_says) {
  const Rounds rounds = {{1, 2, 3, 4}};
  const std::vector<double> line_ns = {40, 100, 300, 79.4};
  EXPECT_THAT(rounds_in(rounds, line_ns, "near")[0], ElementsAre(1, 4));
  EXPECT_THAT(rounds_in(rounds, line_ns, "mid")[0], ElementsAre(2));
  EXPECT_THAT(rounds_in(rounds, line_ns, "far")[0], ElementsAre(3));
  EXPECT_TRUE(rounds_in(rounds, line_ns, "unknown")[0].empty());
}

/// The first is best in one cycle and bad in the other; the second is never best and never bad.
TEST(TuneChoosing, regret_is_the_mean_over_the_cycles) {
  const Rounds same = {{1, 1, 1}, {1.1, 1.1, 1.1}, {1.6, 1.6, 1.6}, {1, 1, 1}};
  const Rounds rotate = {{3.2, 3.2, 3.2}, {2.2, 2.2, 2.2}, {2, 2, 2}, {}};
  const std::vector<double> regret = regrets(std::vector<Rounds>{same, rotate});
  using ::testing::DoubleNear;
  EXPECT_THAT(regret, ElementsAre(DoubleNear(std::sqrt(1.6), 1e-9), DoubleNear(1.1, 1e-9),
                                  DoubleNear(std::sqrt(1.6), 1e-9), 0))
      << "the last lacks a cycle";
  EXPECT_EQ(simplest_of_best(regret), 1u);
}

TEST(TuneChoosing, regrets_of_two_candidates_differ_as_their_times_over_all_cycles) {
  const std::vector<Rounds> cycles = {{{1, 1, 1}, {2, 2, 2}, {5, 5, 5}},
                                      {{9, 9, 9}, {4, 4, 4}, {3, 3, 3}}};
  const std::vector<double> regret = regrets(cycles);
  EXPECT_NEAR(regret[0] / regret[1], ratio_over_cycles(cycles, 0, 1)->median, 1e-9);
}

TEST(TuneChoosing, ratios_are_paired_within_rounds_so_that_drift_cancels) {
  Rounds rounds(2);
  std::mt19937 random(3);
  std::lognormal_distribution<double> drift(0, 0.5);
  for (int i = 0; i < 31; ++i) {
    const double machine = drift(random);
    rounds[0].push_back(1.2 * machine);
    rounds[1].push_back(1.0 * machine);
  }
  const auto ratio = ratio_over_cycles(std::vector<Rounds>{rounds, rounds}, 0, 1);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->median, 1.2, 1e-9);
  EXPECT_NEAR(ratio->low, 1.2, 1e-9);
  EXPECT_FALSE(ratio_over_cycles(std::vector<Rounds>{{{1.0}, {}}}, 0, 1));
}

TEST(TuneChoosing, the_winner_of_the_size_below_stays_while_it_is_good_enough) {
  const std::vector<MeasuredPoint> points = {
      point_of(64, {{"one_shot", 1.2}, {"two_shot", 1.0}}),
      point_of(256, {{"one_shot", 1.0}, {"two_shot", 1.04}}),   // alone, one_shot would win
      point_of(1024, {{"one_shot", 1.0}, {"two_shot", 1.06}}),  // now it is too much
  };
  const auto won = winners(rows_of(points)[0]);
  EXPECT_EQ(won[0]->choice, "two_shot");
  EXPECT_EQ(won[1]->choice, "two_shot");
  EXPECT_EQ(won[2]->choice, "one_shot");
}

TEST(TuneChoosing, neighbouring_sizes_with_one_winner_are_one_rule_with_its_weakest_evidence) {
  const std::vector<MeasuredPoint> points = {
      point_of(64, {{"one_shot", 1.0, 1.0}, {"two_shot", 1.3, 0.8}}),
      point_of(256, {{"one_shot", 1.4, 1.0}, {"two_shot", 1.0, 1.4}}),
      point_of(1024, {{"one_shot", 1.2, 1.0}, {"two_shot", 1.0, 1.2}}),
      point_of(4096, {{"one_shot", 1.0, 1.0}, {"two_shot", 1.3, 0.8}}),
  };
  const std::vector<Rule> rules = rules_of(points);
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].bytes, (Range{129, 2048}));
  EXPECT_EQ(rules[0].pes, (Range{2, 2}));
  EXPECT_EQ(rules[0].line_ns, (Range{0, 79}));
  EXPECT_STREQ(rules[0].algorithm->name, "two_shot");
  EXPECT_EQ(rules[0].evidence->bytes, 1024u);
  EXPECT_NEAR(*rules[0].evidence->vs_builtin, 1.2, 1e-9);
  EXPECT_EQ(rules[0].evidence->runner_up, "one_shot");
}

TEST(TuneChoosing, no_rule_without_five_percent_in_the_half_that_reports) {
  // By the half that chose it is 20 % better; the other half disagrees.
  EXPECT_TRUE(
      rules_of(std::vector{point_of(64, {{"one_shot", 1.2}, {"ring", 1.0, 1.04}})}).empty());
  EXPECT_EQ(rules_of(std::vector{point_of(64, {{"one_shot", 1.2}, {"ring", 1.0, 1.06}})}).size(),
            1u);
}

TEST(TuneChoosing, rules_do_not_reach_beyond_the_sizes_measured_unless_that_were_a_cliff) {
  const auto range = [](double gain) {
    const std::vector<Rule> rules =
        rules_of(std::vector{point_of(64, {{"one_shot", gain}, {"ring", 1.0, gain}})});
    return rules.size() == 1 ? rules[0].bytes : Range{};
  };
  EXPECT_EQ(range(1.2), (Range{64, 64}));
  const Range wide = range(2.0);
  EXPECT_LT(wide.low.value_or(0), 64u);
  EXPECT_GT(wide.high.value_or(1 << 30), 64u);
}

std::vector<Rule> rules_of_lonely_size(double gain) {
  return rules_of(std::vector{point_of(128, {{"one_shot", 1.0}, {"ring", gain, 1 / gain}}),
                              point_of(4096, {{"one_shot", gain}, {"ring", 1.0, gain}}),
                              point_of(1 << 18, {{"one_shot", 1.0}, {"ring", gain, 1 / gain}})});
}

TEST(TuneChoosing, a_lonely_size_speaks_for_its_neighbourhood_only) {
  ASSERT_EQ(rules_of_lonely_size(1.2).size(), 1u);
  EXPECT_EQ(rules_of_lonely_size(1.2)[0].bytes, (Range{1024, 16384}));
}

TEST(TuneChoosing, where_its_neighbourhood_ended_in_a_cliff_it_reaches_to_where_times_cross) {
  const std::vector<Rule> rules = rules_of_lonely_size(4);
  ASSERT_EQ(rules.size(), 1u);
  // The times are as mirrored at 4096: they cross halfway to each neighbour.
  EXPECT_NEAR(static_cast<double>(*rules[0].bytes.low), 724, 60);
  EXPECT_NEAR(static_cast<double>(*rules[0].bytes.high), 32768, 3000);
}

TEST(TuneChoosing, wrong_and_failed_candidates_never_win) {
  MeasuredPoint point = point_of(64, {{"one_shot", 1.5}, {"ring", 1.0, 1.5}});
  point.candidates[1].status = MeasuredCandidate::Status::Wrong;
  EXPECT_EQ(winners({&point})[0]->choice, "one_shot");
  EXPECT_TRUE(rules_of(std::vector{point}).empty());
}

TEST(TuneChoosing, regimes_are_rows_of_their_own) {
  const std::vector<MeasuredPoint> points = {point_of(64, {{"one_shot"}}, 40),
                                             point_of(64, {{"one_shot"}}, 200),
                                             point_of(32, {{"one_shot"}}, 45)};
  const std::vector<Row> rows = rows_of(points);
  ASSERT_EQ(rows.size(), 2u);
  for (const Row& row : rows) {
    if (row.size() == 2) {
      EXPECT_EQ(row[0]->bytes, 32u);
    }
  }
}

TEST(TuneChoosing, bisection_goes_where_a_wrong_winner_is_dearest) {
  const std::vector<MeasuredPoint> points = {
      point_of(64, {{"one_shot", 1.0}, {"two_shot", 1.2}}),
      point_of(1024, {{"one_shot", 1.2}, {"two_shot", 1.0, 1.2}}),
      point_of(16384, {{"one_shot", 1.0}, {"two_shot", 3.0}}),
  };
  const std::vector<Crossover> all = crossovers(rows_of(points));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].bytes, 4096u);
  EXPECT_EQ(all[0].low->bytes, 1024u);
  EXPECT_EQ(all[1].bytes, 256u);
}

TEST(TuneChoosing, nothing_is_bisected_where_neighbours_have_no_rule) {
  const std::vector<MeasuredPoint> points = {
      point_of(64, {{"one_shot", 1.0}, {"two_shot", 1.2}}),
      point_of(1024, {{"one_shot", 1.04}, {"two_shot", 1.0, 1.04}}),  // wins by too little
  };
  EXPECT_TRUE(crossovers(rows_of(points)).empty());
}

TEST(TuneChoosing, a_built_in_choice_that_fails_is_replaced) {
  MeasuredPoint point = point_of(64, {{"one_shot"}, {"ring", 1.0}});
  point.candidates[0].status = MeasuredCandidate::Status::Failed;
  point.candidates[1].vs_builtin.reset();
  const std::vector<Rule> rules = rules_of(std::vector{point});
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_STREQ(rules[0].algorithm->name, "ring");
  EXPECT_FALSE(rules[0].evidence->vs_builtin);
}

TEST(TuneChoosing, bisection_ends) {
  std::vector<MeasuredPoint> points = {
      point_of(64, {{"one_shot", 1.0}, {"two_shot", 1.2, 1 / 1.2}}),
      point_of(1 << 20, {{"one_shot", 1.2}, {"two_shot", 1.0, 1.2}})};
  int steps = 0;
  for (;;) {
    const std::vector<Crossover> all = crossovers(rows_of(points));
    if (all.empty()) break;
    ASSERT_LT(++steps, 50);
    const bool small = all[0].bytes < 5000;  // the true crossover
    const double other = small ? 1 / 1.2 : 1.2;
    points.push_back(point_of(
        all[0].bytes, {{"one_shot", small ? 1.0 : 1.2}, {"two_shot", small ? 1.2 : 1.0, other}}));
  }
  const Row row = rows_of(points)[0];
  const auto won = winners(row);
  for (std::size_t i = 0; i + 1 < row.size(); ++i) {
    if (won[i]->choice == won[i + 1]->choice) continue;
    EXPECT_LT(static_cast<double>(row[i + 1]->bytes) / static_cast<double>(row[i]->bytes), 1.3);
    EXPECT_LE(row[i]->bytes, 5000u);
    EXPECT_GE(row[i + 1]->bytes, 5000u);
  }
}

}  // namespace
}  // namespace tutti::tests
