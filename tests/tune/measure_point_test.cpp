// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/measure_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/tune/try_candidates.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using Status = MeasuredCandidate::Status;
using ::testing::HasSubstr;

const char* anything(const Problem&) { return nullptr; }
std::size_t no_scratch(const Problem&, const Params&) { return 0; }
Traffic no_traffic(const Problem&, const Params&, int) { return {}; }

void leave_zeros(Execution& x, const Params&) {
  x.publish(1);
  x.await_all(1);
}
void throw_on_pe_1(Execution& x, const Params&) {
  if (x.pe() == 1) throw Error(ErrorCode::System, "no luck");
  x.publish(1);
  x.await_all(1);
}
void wait_for_ever(Execution& x, const Params&) {
  x.publish(1);
  x.await_all(2);  // nobody publishes it
}

void loop_for_ever_on_pe_1(Execution& x, const Params&) {
  volatile bool for_ever = x.pe() == 1;
  while (for_ever) {
  }
  x.publish(1);
  x.await_all(1);
}

constexpr Algorithm broken(const char* name, void (*run)(Execution&, const Params&)) {
  return {Collective::Allreduce, name, "", "", true, {}, anything, no_scratch, no_traffic, run};
}
constexpr Algorithm kZeros = broken("zeros", leave_zeros);
constexpr Algorithm kThrower = broken("thrower", throw_on_pe_1);
constexpr Algorithm kWaiter = broken("waiter", wait_for_ever);
constexpr Algorithm kLooper = broken("looper", loop_for_ever_on_pe_1);

/// PE 0's points; none if too few rounds came in the time.
std::vector<MeasuredPoint> measured_in(const std::vector<std::string>& choices, double seconds) {
  Options options;
  options.extra_algorithms = {&kZeros, &kThrower, &kWaiter};
  std::vector<MeasuredPoint> points;
  run(
      2,
      [&](Team& team) {
        PointEffort effort;
        effort.cycles = {Cycle::Same, Cycle::Rotate};
        effort.seconds = seconds;
        effort.try_apart = false;
        effort.choices = choices;
        effort.extra_algorithms = options.extra_algorithms;
        effort.call_deadline = std::chrono::milliseconds(500);
        Cell cell;
        cell.bytes = 1024;
        auto mine = measure_point(team, cell, effort);
        if (team.pe() == 0) points = std::move(mine);
      },
      options);
  return points;
}

/// On a busy machine rounds are few and far between.
std::vector<MeasuredPoint> measured(const std::vector<std::string>& choices) {
  std::vector<MeasuredPoint> points;
  for (double seconds = 0.3; points.empty() && seconds < 10; seconds *= 3) {
    points = measured_in(choices, seconds);
  }
  return points;
}

const MeasuredCandidate& candidate(const MeasuredPoint& point, std::string_view choice) {
  for (const MeasuredCandidate& each : point.candidates) {
    if (each.choice == choice) return each;
  }
  throw Error(ErrorCode::InvalidArgument, std::string(choice) + " is not a candidate");
}

TEST(MeasurePoint, wrong_throwing_and_hanging_candidates_are_reported_and_the_others_measured) {
  const auto points = measured({"zeros", "one_shot", "thrower", "ring", "waiter"});
  ASSERT_FALSE(points.empty());
  const MeasuredPoint& point = points[0];
  EXPECT_EQ(candidate(point, "zeros").status, Status::Wrong);
  EXPECT_EQ(candidate(point, "thrower").status, Status::Failed);
  EXPECT_THAT(candidate(point, "thrower").reason, HasSubstr("no luck"));
  EXPECT_EQ(candidate(point, "waiter").status, Status::Hung);
  EXPECT_EQ(candidate(point, "one_shot").status, Status::Measured)
      << candidate(point, "one_shot").reason;
  EXPECT_EQ(candidate(point, "ring").status, Status::Measured) << candidate(point, "ring").reason;
  EXPECT_GT(candidate(point, "ring").regret, 0);
  EXPECT_EQ(candidate(point, "zeros").regret, 0) << "what is wrong is not compared with";
}

TEST(MeasurePoint, the_built_in_choice_is_always_among_the_candidates) {
  const auto points = measured({"ring"});
  ASSERT_FALSE(points.empty());
  const MeasuredCandidate& builtin = candidate(points[0], points[0].builtin);
  ASSERT_TRUE(builtin.vs_builtin);
  EXPECT_EQ(builtin.vs_builtin->median, 1);
  ASSERT_TRUE(candidate(points[0], "ring").vs_builtin);
  EXPECT_EQ(points[0].bytes, 1024u);
}

TEST(MeasurePoint, a_candidate_that_loops_for_ever_ends_its_child_and_nothing_else) {
  std::vector<Trial> trials;
  run(2, [&](Team& team) {
    Cell cell;
    cell.bytes = 1024;
    const std::vector<std::string> choices = {"one_shot", "looper", "ring"};
    auto mine = try_candidates(team, cell, choices, std::chrono::milliseconds(10'000));
    if (team.pe() == 0) trials = std::move(mine);
  });
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_TRUE(trials[0].right) << trials[0].reason;
  EXPECT_TRUE(trials[1].hung);
  EXPECT_FALSE(trials[1].right || trials[1].wrong);
  EXPECT_TRUE(trials[2].right) << "the others are tried in another child: " << trials[2].reason;
}

}  // namespace

/// The child's side: "try allreduce ... CHOICE...", as tutti-tune has it.
int try_as_child(const std::vector<std::string>& arguments) {
  Cell cell;
  cell.bytes = 1024;
  const std::size_t options = bench::trial_arguments(cell, 2, {}).size();
  return bench::run_trials(
      cell, 2, {arguments.begin() + static_cast<int>(options), arguments.end()}, {&kLooper});
}

}  // namespace tutti::tests

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "try") return tutti::tests::try_as_child(arguments);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
