// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/measure_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string_view>
#include <vector>

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

constexpr Algorithm broken(const char* name, void (*run)(Execution&, const Params&)) {
  return {Collective::Allreduce, name, "", "", true, {}, anything, no_scratch, no_traffic, run};
}
constexpr Algorithm kZeros = broken("zeros", leave_zeros);
constexpr Algorithm kThrower = broken("thrower", throw_on_pe_1);
constexpr Algorithm kWaiter = broken("waiter", wait_for_ever);

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
  EXPECT_EQ(candidate(point, "waiter").status, Status::Failed);
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

}  // namespace
}  // namespace tutti::tests
