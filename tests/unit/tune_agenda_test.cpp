// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/tune/agenda.hpp"
#include "tune_points.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using ::testing::ElementsAre;

/// Allreduce of f32 on two PEs, private memory.
struct Sweep {
  SweepPlan plan = {.collectives = {Collective::Allreduce},
                    .types = {DType::F32},
                    .placements = {Placement::Private},
                    .contracts = {Contract::Consistent},
                    .cycles = {Cycle::Same},
                    .smallest = 64,
                    .largest = 4096,
                    .budget_seconds = 100};
  std::vector<MeasuredPoint> points;
  Agenda agenda = Agenda(
      plan,
      [](const Cell& cell) {
        Problem problem;
        problem.pes = 2;
        problem.count = cell.bytes / 4;
        return problem;
      },
      points);

  /// Every step until the end; `measure` gives a step's points.
  template <class F>
  std::vector<std::size_t> run(F&& measure) {
    std::vector<std::size_t> sizes;
    while (const auto step = agenda.next(50)) {
      if (sizes.size() == 30) break;
      sizes.push_back(step->cell.bytes);
      const std::vector<MeasuredPoint> found = measure(*step);
      points.insert(points.end(), found.begin(), found.end());
      agenda.done(step->cell, !found.empty());
    }
    return sizes;
  }
};

/// One winner everywhere: nothing to refine.
std::vector<MeasuredPoint> steady(std::size_t bytes, double line_ns = 50) {
  return {point_of(bytes, {{"one_shot"}, {"ring", 1.2, 1 / 1.2}}, line_ns)};
}

TEST(TuneAgenda, the_grid_is_measured_once_and_that_is_all_where_one_choice_wins) {
  Sweep sweep;
  const auto sizes = sweep.run([](const Agenda::Step& step) { return steady(step.cell.bytes); });
  EXPECT_THAT(sizes, ElementsAre(64, 4096, 1024, 256));
  EXPECT_TRUE(sweep.agenda.grid_complete());
}

TEST(TuneAgenda, what_is_known_is_not_measured_again) {
  Sweep sweep;
  sweep.points = steady(1024);
  const Agenda resumed(
      sweep.plan,
      [](const Cell& cell) {
        Problem problem;
        problem.pes = 2;
        problem.count = cell.bytes / 4;
        return problem;
      },
      sweep.points);
  EXPECT_EQ(resumed.progress(), "   0 of   3");
}

TEST(TuneAgenda, what_gave_no_point_is_measured_once_more_at_the_end) {
  Sweep sweep;
  const auto sizes = sweep.run([](const Agenda::Step& step) {
    return step.cell.bytes == 4096 ? std::vector<MeasuredPoint>() : steady(step.cell.bytes);
  });
  // Then once more as a gap: the line transfer may be steady by then.
  EXPECT_THAT(sizes, ElementsAre(64, 4096, 1024, 256, 4096, 4096));
}

TEST(TuneAgenda, what_the_present_regime_lacks_is_measured_after_the_grid) {
  Sweep sweep;
  int steps = 0;
  const auto sizes = sweep.run(
      [&](const Agenda::Step& step) { return steady(step.cell.bytes, ++steps <= 2 ? 50 : 200); });
  EXPECT_THAT(sizes, ElementsAre(64, 4096, 1024, 256, 64, 4096));
}

TEST(TuneAgenda, a_crossover_that_gave_no_point_does_not_keep_others_from_being_refined) {
  Sweep sweep;
  const auto measured = [](std::size_t bytes) {
    const bool in_between = bytes > 100 && bytes < 2000;
    const double ring = in_between ? 1.0 : 1.3;
    const double one_shot = in_between ? 1.3 : 1.0;
    return std::vector{
        point_of(bytes, {{"one_shot", one_shot}, {"ring", ring, in_between ? 1.3 : 1 / 1.3}})};
  };
  const auto sizes = sweep.run([&](const Agenda::Step& step) {
    return step.cell.bytes == 128 ? std::vector<MeasuredPoint>() : measured(step.cell.bytes);
  });
  EXPECT_THAT(sizes, ::testing::IsSupersetOf({128, 2048}));
}

TEST(TuneAgenda, winners_of_the_neighbouring_sizes_run_again) {
  Sweep sweep;
  sweep.points = {point_of(64, {{"ring"}}), point_of(4096, {{"two_shot"}}),
                  point_of(4096, {{"rabenseifner"}}, 200), point_of(16, {{"one_line"}})};
  sweep.agenda.done({}, true);
  sweep.agenda.done({}, true);
  const auto step = sweep.agenda.next(50);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->cell.bytes, 1024u);
  EXPECT_THAT(step->neighbours, ElementsAre("ring", "two_shot"))
      << "of the regime that the last point was in";
}

TEST(TuneAgenda, a_time_too_short_for_a_point_ends_it) {
  Sweep sweep;
  EXPECT_FALSE(sweep.agenda.next(least_seconds(sweep.plan.cycles) / 2));
  const auto step = sweep.agenda.next(2 * least_seconds(sweep.plan.cycles));
  ASSERT_TRUE(step);
  EXPECT_GE(step->seconds, least_seconds(sweep.plan.cycles));
  EXPECT_FALSE(sweep.agenda.grid_complete());
}

}  // namespace
}  // namespace tutti::tests
