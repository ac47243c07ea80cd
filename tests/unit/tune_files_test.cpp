// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "bench/statistics.hpp"
#include "bench/tune/compare.hpp"
#include "bench/tune/promises.hpp"
#include "tune_points.hpp"

namespace tutti::tests {
namespace {

using namespace bench;

/// What a sweep would say of one cell whose blocks scatter like those of a virtual machine.
TimedCell made_up(std::mt19937& random, double median_us, std::size_t rounds) {
  std::lognormal_distribution<double> skewed(std::log(median_us), 0.2);
  std::vector<double> samples(rounds);
  for (double& sample : samples) sample = skewed(random);
  const Estimate e = estimate(samples);
  return {{e.median, e.low, e.high}, rounds};
}

TEST(TuneCompare, a_against_a_shows_a_difference_no_more_often_than_its_nominal_rate) {
  std::mt19937 random(7);
  constexpr int kExperiments = 1000;
  for (const std::size_t rounds : {7, 15, 31, 100}) {
    for (const int cells : {1, 40}) {
      int alarms = 0;
      for (int i = 0; i < kExperiments; ++i) {
        Results a;
        Results b;
        for (int cell = 0; cell < cells; ++cell) {
          a[{std::to_string(cell), ""}] = made_up(random, 5, rounds);
          b[{std::to_string(cell), ""}] = made_up(random, 5, rounds);
        }
        bool any = false;
        for (const Comparison& each : compare(a, b)) any = any || each.differs;
        alarms += any ? 1 : 0;
      }
      EXPECT_LE(alarms, kExperiments / 20) << rounds << " rounds, " << cells << " cells";
    }
  }
}

TEST(TuneCompare, a_real_difference_is_shown_with_its_size) {
  std::mt19937 random(8);
  Results a;
  Results b;
  for (int cell = 0; cell < 20; ++cell) {
    a[{std::to_string(cell), ""}] = made_up(random, 5, 101);
    b[{std::to_string(cell), ""}] = made_up(random, cell == 3 ? 7.5 : 5, 101);
  }
  for (const Comparison& each : compare(a, b)) {
    EXPECT_EQ(each.differs, each.name.what == "3") << each.name.what << " " << each.ratio.median;
    if (each.name.what == "3") {
      EXPECT_NEAR(each.ratio.median, 1.5, 0.15);
    }
  }
}

TEST(TuneCompare, only_what_both_results_have_is_compared) {
  const Results a = {{{"x", ""}, {{1, 0.9, 1.1}, 15}}, {{"y", ""}, {{1, 0.9, 1.1}, 15}}};
  const Results b = {{{"y", ""}, {{1, 0.9, 1.1}, 15}}, {{"z", ""}, {{1, 0, 1.1}, 15}}};
  ASSERT_EQ(compare(a, b).size(), 1u);
  EXPECT_EQ(compare(a, b)[0].name.what, "y");
  EXPECT_TRUE(not_comparable(a, b).empty());
}

TEST(TuneCompare, reads_the_json_of_tutti_bench_and_refuses_other_files) {
  const Results results = results_of_bench(
      R"({"context": {"rounds": "31"}, "benchmarks": [{"name": "barrier", "real_time": 2000.0,
          "time_unit": "ns", "time_lo": 1e-6, "time_hi": 3e-6}]})",
      "b.json");
  const TimedCell& barrier = results.at({"barrier", "pes:0/unknown/unknown"});
  EXPECT_NEAR(barrier.us.median, 2, 1e-9);
  EXPECT_NEAR(barrier.us.high, 3, 1e-9);
  EXPECT_EQ(barrier.rounds, 31u);
  EXPECT_THROW(results_of_bench("{}", "b.json"), Error);
  EXPECT_THROW(results_of_bench("no json", "b.json"), Error);
}

/// What tutti-bench writes of one cell.
Results bench_results(int pes, double line_ns, const std::string& cycle) {
  return results_of_bench(
      R"({"context": {"pes": ")" + std::to_string(pes) + R"(", "cycle": ")" + cycle +
          R"("}, "benchmarks": [{"name": "reduce/bytes:64", "real_time": 2.0, "time_unit": "us",
          "time_lo": 1e-6, "time_hi": 3e-6, "line_ns": )" +
          std::to_string(line_ns) + "}]}",
      "b.json");
}

TEST(TuneCompare, results_under_other_conditions_are_named_and_not_compared) {
  const Results near = bench_results(2, 40, "same");
  EXPECT_EQ(compare(near, bench_results(2, 70, "same")).size(), 1u);
  const std::array others = {bench_results(2, 200, "same"), bench_results(2, 40, "rotate"),
                             bench_results(4, 40, "same")};
  for (const Results& other : others) {
    EXPECT_TRUE(compare(near, other).empty());
    ASSERT_EQ(not_comparable(near, other).size(), 1u);
  }
  EXPECT_EQ(not_comparable(near, others[0])[0],
            "reduce/bytes:64: pes:2/near/same in the first, pes:2/far/same in the second");
}

TEST(TunePromises, a_rule_holds_is_worse_or_shows_no_difference) {
  EXPECT_EQ(verdict_of({1.2, 1.1, 1.3}), Verdict::Holds);
  EXPECT_EQ(verdict_of({1.05, 0.98, 1.1}), Verdict::Undecided);
  EXPECT_EQ(verdict_of({0.98, 0.97, 0.99}), Verdict::Undecided) << "inside the margin";
  EXPECT_EQ(verdict_of({0.9, 0.85, 0.95}), Verdict::Worse);
}

TEST(TunePromises, a_rule_is_checked_where_it_was_measured_or_in_the_middle) {
  Rule rule;
  rule.bytes = {100, 10000};
  EXPECT_EQ(size_to_check(rule), 1000u);
  rule.evidence = Evidence{};
  rule.evidence->bytes = 512;
  EXPECT_EQ(size_to_check(rule), 512u);
  EXPECT_EQ(size_to_check(Rule{}), 5792u) << "8 B to 4 MiB";
}

TEST(TunePromises, held_out_sizes_lie_between_those_measured) {
  Tuning file;
  file.points = {point_of(64, {{"one_shot"}}), point_of(256, {{"one_shot"}}),
                 point_of(260, {{"one_shot"}})};
  const std::vector<Cell> cells = held_out_cells(file, 2);
  ASSERT_EQ(cells.size(), 1u) << "nothing fits between 256 and 260";
  EXPECT_EQ(cells[0].bytes, 128u);
  EXPECT_TRUE(held_out_cells(file, 4).empty());
}

TEST(TunePromises, a_file_promises_nothing_about_regimes_that_it_did_not_see) {
  Tuning file;
  file.points = {point_of(64, {{"one_shot"}}, 50)};
  EXPECT_TRUE(covers(file, point_of(128, {{"one_shot"}}, 70)));
  EXPECT_FALSE(covers(file, point_of(128, {{"one_shot"}}, 200)));
  MeasuredPoint other = point_of(128, {{"one_shot"}}, 50);
  other.memory = Memory::Symmetric;
  EXPECT_FALSE(covers(file, other));
}

TEST(TunePromises, a_choice_is_compared_with_the_best_that_the_other_half_chose) {
  MeasuredPoint point =
      point_of(64, {{"one_shot", 1.3}, {"ring", 1.0, 1.2}, {"two_shot", 1.1, 1.4}});
  const auto loss = loss_of(point);
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->best, "ring") << "of the rounds that choose";
  EXPECT_EQ(loss->ratio, (Interval{1.2, 1.19, 1.21})) << "of the rounds that report";
  point.builtin = "ring";
  point.candidates[1].vs_builtin = Interval{1, 1, 1};
  EXPECT_EQ(loss_of(point)->ratio.median, 1);
  point.builtin = "tree";
  EXPECT_FALSE(loss_of(point)) << "it was not measured";
}

TEST(TunePromises, a_loss_names_the_cycle_in_which_it_is_greatest) {
  MeasuredPoint point = point_of(64, {{"one_shot", 1.3}, {"ring", 1.0, 1.2}});
  const auto times = [&](std::size_t i, double same, double rotate) {
    point.candidates[i].times = {{Cycle::Same, {same, same, same}},
                                 {Cycle::Rotate, {rotate, rotate, rotate}}};
  };
  times(0, 10, 28);
  times(1, 9, 20);
  EXPECT_EQ(loss_of(point)->cycle, Cycle::Rotate);
  times(1, 6, 20);
  EXPECT_EQ(loss_of(point)->cycle, Cycle::Same);
}

TEST(TunePromises, the_promise_is_ten_percent_at_95_of_100_and_25_percent_at_all) {
  std::vector<HeldOut> all(100);
  for (HeldOut& held : all) held.loss.ratio.median = 1.05;
  for (std::size_t i = 0; i < 5; ++i) all[i].loss.ratio.median = 1.2;
  EXPECT_TRUE(summarize(all).kept);
  all[5].loss.ratio.median = 1.2;
  EXPECT_FALSE(summarize(all).kept);
  all[5].loss.ratio.median = 1.05;
  all[0].loss.ratio.median = 1.26;
  EXPECT_FALSE(summarize(all).kept);
  EXPECT_FALSE(summarize({}).kept) << "nothing was shown";
}

}  // namespace
}  // namespace tutti::tests
