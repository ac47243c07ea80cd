// SPDX-License-Identifier: Apache-2.0
// The line transfer changes while a team lives: every PE plans for it from the same call on. What
// calibrations say is given by TUTTI_LINE_NS here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "support/environment.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

constexpr std::size_t kCount = 512;  // 2 KiB: two PEs far apart stage it past the caches
constexpr int kCallsBetweenLooks = 4096;

const Problem kProblem = {.count = kCount};

/// Whether a call of two PEs is planned for caches that are far apart.
bool planned_far(const Team& team, int lane = 0) {
  return last_call(team, lane).algorithm.find("store=stream") != std::string::npos;
}

/// Calls again and again, checking each; returns in which ones the plan was another than before.
std::vector<int> changes_in(Team& team, int calls) {
  std::vector<int> changes;
  std::vector<float> data(kCount);
  bool far = false;
  for (int call = 0; call < calls; ++call) {
    data.assign(kCount, static_cast<float>(team.pe() + call % 100));
    allreduce(team, data, Op::Sum);
    EXPECT_EQ(data[call % kCount], 1 + 2 * (call % 100)) << "call " << call;
    if (planned_far(team) == far) continue;
    far = !far;
    changes.push_back(call);
    const Explanation said = explain(team, kProblem);
    EXPECT_EQ(describe(*said.algorithm, said.params), last_call(team).algorithm);
  }
  return changes;
}

/// Where the plans changed, which must be the same calls on both PEs.
std::vector<int> agreed_changes(const std::string& line_ns, int calls,
                                const Options& options = {}) {
  const ScopedVariable told("TUTTI_LINE_NS", line_ns);
  std::array<std::vector<int>, 2> changes;
  const auto body = [&](Team& team) { changes[team.pe()] = changes_in(team, calls); };
  EXPECT_EQ(caught([&] { run(2, body, options); }).text, "");
  EXPECT_EQ(changes[0], changes[1]);
  return changes[0];
}

TEST(Regime, all_pes_plan_for_a_new_line_transfer_from_the_same_call_on) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  // At start-up; at the first look; at the second, and again; the same later.
  EXPECT_THAT(agreed_changes("60,60,220,220,220,55", 5 * kCallsBetweenLooks),
              ::testing::ElementsAre(2 * kCallsBetweenLooks, 4 * kCallsBetweenLooks));
}

TEST(Regime, a_single_measurement_changes_nothing) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  EXPECT_THAT(agreed_changes("60,220,60", 3 * kCallsBetweenLooks), ::testing::IsEmpty());
}

TEST(Regime, following_can_be_turned_off) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  EXPECT_THAT(agreed_changes("60,220", 2 * kCallsBetweenLooks, {.follow_regime = false}),
              ::testing::IsEmpty());
  const ScopedVariable off("TUTTI_FOLLOW_REGIME", "0");
  EXPECT_THAT(agreed_changes("60,220", 2 * kCallsBetweenLooks), ::testing::IsEmpty());
}

TEST(Regime, what_cannot_be_measured_is_not_followed) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  EXPECT_THAT(agreed_changes("0,220", 2 * kCallsBetweenLooks), ::testing::IsEmpty());
}

TEST(Regime, large_messages_are_followed_in_fewer_calls) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  const ScopedVariable told("TUTTI_LINE_NS", "60,220");
  run_world(2, 0, [](Team& team) {
    std::vector<float> data(std::size_t{1} << 20);  // 4 MiB count as 65 calls
    int near = 0;
    for (; near < 100; ++near) {
      allreduce(team, data, Op::Sum);
      if (planned_far(team)) break;
    }
    EXPECT_EQ(near, kCallsBetweenLooks / 65 + 1);
  });
}

TEST(Regime, other_lanes_follow_what_lane_0_found) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  const ScopedVariable told("TUTTI_LINE_NS", "60,220");
  run_world(2, 0, [](Team& team) {
    EXPECT_THAT(changes_in(team, kCallsBetweenLooks + 1), ::testing::SizeIs(1));
    std::vector<float> data(kCount);
    std::vector<int> lanes_far(4);
    for (int call = 0; call < 4 * kCallsBetweenLooks; ++call) {
      const int lane = 1 + call % 2;
      allreduce(team, data, Op::Sum, {.lane = lane});
      lanes_far[lane] += planned_far(team, lane) ? 1 : 0;
    }
    EXPECT_THAT(lanes_far, ::testing::ElementsAre(0, kCallsBetweenLooks, kCallsBetweenLooks, 0));
  });
}

TEST(Regime, a_wrong_variable_is_refused) {
  const ScopedVariable wrong("TUTTI_FOLLOW_REGIME", "yes");
  const Caught error = caught([] { run(2, [](Team&) {}); });
  EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
  EXPECT_THAT(error.text,
              ::testing::HasSubstr("TUTTI_FOLLOW_REGIME is \"yes\"; allowed are 0 and 1"));
}

}  // namespace
}  // namespace tutti::tests
