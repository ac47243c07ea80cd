// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/measure_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
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

constexpr std::size_t kBytes = 1024;

const char* anything(const Problem&) { return nullptr; }
std::size_t scratch(const Problem&, const Params&) { return kBytes; }
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

/// An allreduce that is right: everyone stages, everyone folds in PE order, or from the last PE.
void fold_all(Execution& x, std::byte* out, bool from_the_last = false) {
  const Staged range = x.reserve(kBytes, 1);
  x.stage(range, 0, x.in(), kBytes);
  x.publish(1);
  x.await_all(1);
  const auto sources = x.sources();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    sources[i] =
        x.read(static_cast<int>(from_the_last ? sources.size() - 1 - i : i), range, 0, kBytes);
  }
  x.fold(out, sources, x.problem().count);
}
void swap_two_chunks(Execution& x, const Params&) {
  fold_all(x, x.out());
  std::swap_ranges(x.out(), x.out() + 256, x.out() + 256);
}
void repeat_data_of_8_calls_ago(Execution& x, const Params&) {
  thread_local std::deque<std::array<std::byte, kBytes>> results;
  fold_all(x, results.emplace_back().data());
  if (results.size() > 9) results.pop_front();
  x.copy(x.out(), results.size() > 8 ? results.front().data() : results.back().data(), kBytes);
}
void fold_from_the_last(Execution& x, const Params&) { fold_all(x, x.out(), true); }

constexpr Algorithm broken(const char* name, void (*run)(Execution&, const Params&)) {
  return {Collective::Allreduce, name, "", "", true, {}, anything, scratch, no_traffic, run};
}
constexpr Algorithm kSwapper = broken("swapper", swap_two_chunks);
constexpr Algorithm kStale = broken("stale", repeat_data_of_8_calls_ago);
constexpr Algorithm kReversed = broken("reversed", fold_from_the_last);
constexpr Algorithm kZeros = broken("zeros", leave_zeros);
constexpr Algorithm kThrower = broken("thrower", throw_on_pe_1);
constexpr Algorithm kWaiter = broken("waiter", wait_for_ever);
constexpr Algorithm kLooper = broken("looper", loop_for_ever_on_pe_1);

constexpr std::chrono::milliseconds kSilence{10'000};  ///< of a child

/// PE 0's points; none if too few rounds came in the time.
std::vector<MeasuredPoint> measured_in(const std::vector<std::string>& choices, double seconds,
                                       int pes, Contract contract) {
  Options options;
  options.extra_algorithms = {&kZeros, &kThrower, &kWaiter, &kSwapper, &kStale, &kReversed};
  std::vector<MeasuredPoint> points;
  run(
      pes,
      [&](Team& team) {
        PointEffort effort;
        effort.cycles = {Cycle::Same, Cycle::Rotate};
        effort.seconds = seconds;
        effort.try_apart = false;
        effort.choices = choices;
        effort.extra_algorithms = options.extra_algorithms;
        effort.call_deadline = std::chrono::milliseconds(500);
        Cell cell;
        cell.bytes = kBytes;
        cell.contract = contract;
        auto mine = measure_point(team, cell, effort);
        if (team.pe() == 0) points = std::move(mine);
      },
      options);
  return points;
}

/// On a busy machine rounds are few and far between.
std::vector<MeasuredPoint> measured(const std::vector<std::string>& choices, int pes = 2,
                                    Contract contract = Contract::Consistent) {
  std::vector<MeasuredPoint> points;
  for (double seconds = 0.3; points.empty() && seconds < 10; seconds *= 3) {
    points = measured_in(choices, seconds, pes, contract);
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

TEST(MeasurePoint, data_of_another_place_or_of_an_earlier_call_are_wrong) {
  const auto points = measured({"one_shot", "swapper", "stale"});
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(candidate(points[0], "swapper").status, Status::Wrong);
  EXPECT_EQ(candidate(points[0], "stale").status, Status::Wrong);
  EXPECT_EQ(candidate(points[0], "one_shot").status, Status::Measured)
      << candidate(points[0], "one_shot").reason;
}

TEST(MeasurePoint, who_claims_to_keep_the_order_and_does_not_is_wrong) {
  const auto ordered = measured({"one_shot", "reversed"}, 3, Contract::Ordered);
  ASSERT_FALSE(ordered.empty());
  EXPECT_EQ(candidate(ordered[0], "reversed").status, Status::Wrong);
  EXPECT_EQ(candidate(ordered[0], "one_shot").status, Status::Measured)
      << candidate(ordered[0], "one_shot").reason;
}

TEST(MeasurePoint, a_trial_sees_who_does_not_keep_the_order) {
  for (const Contract contract : {Contract::Ordered, Contract::Consistent}) {
    std::vector<Trial> trials;
    run(3, [&](Team& team) {
      Cell cell;
      cell.bytes = kBytes;
      cell.contract = contract;
      auto mine = try_candidates(team, cell, {"one_shot", "reversed", "swapper"}, kSilence);
      if (team.pe() == 0) trials = std::move(mine);
    });
    ASSERT_EQ(trials.size(), 3u);
    EXPECT_TRUE(trials[0].right) << trials[0].reason;
    EXPECT_EQ(trials[1].wrong, contract == Contract::Ordered) << trials[1].reason;
    EXPECT_TRUE(trials[2].wrong) << trials[2].reason;
  }
}

TEST(MeasurePoint, a_size_below_an_element_a_pe_is_measured_at_one_a_pe) {
  run(3, [](Team& team) {
    for (const Collective collective : {Collective::Allgather, Collective::ReduceScatter}) {
      Cell cell;
      cell.collective = collective;
      cell.dtype = DType::F64;
      cell.bytes = 8;
      const Workload work(team, cell);
      EXPECT_EQ(work.elements(), 3u);
      EXPECT_EQ(bytes_of(problem_of(cell, team, 0)), 24u);
      EXPECT_EQ(whole_bytes(cell, team.size()), 24u);
      const Workload::Buffers at = work.buffers(1);
      work.produce(at, 1);
      work.run(at, {});
      EXPECT_EQ(work.wrong(at, 1), 0u);
      EXPECT_GT(work.out_elements(), 0u);
    }
  });
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
    cell.bytes = kBytes;
    const std::vector<std::string> choices = {"one_shot", "looper", "ring"};
    auto mine = try_candidates(team, cell, choices, kSilence);
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
  cell.bytes = kBytes;
  const std::size_t options = bench::trial_arguments(cell, 2, {}).size();
  cell.contract = contract_from(arguments[options - 1]);
  return bench::run_trials(cell, std::stoi(arguments[3]),
                           {arguments.begin() + static_cast<int>(options), arguments.end()},
                           {&kLooper, &kSwapper, &kReversed});
}

}  // namespace tutti::tests

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "try") return tutti::tests::try_as_child(arguments);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
