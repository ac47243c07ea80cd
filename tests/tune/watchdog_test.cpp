// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/watchdog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/tune/choosing.hpp"
#include "bench/tune/sweep.hpp"
#include "bench/tune/try_candidates.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using Status = MeasuredCandidate::Status;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool in_a_trial = false;

const char* anything(const Problem&) { return nullptr; }
Traffic no_traffic(const Problem&, const Params&, int) { return {}; }

/// Right in its child; among the real PEs it never returns, outside any wait.
void loop_among_the_real_pes(Execution& x, const Params&) {
  volatile bool for_ever = !in_a_trial && x.pe() == 1;
  while (for_ever) {
  }
  const auto bytes = x.problem().count * size_of(x.problem().dtype);
  const Staged range = x.reserve(bytes, 1);
  x.stage(range, 0, x.in(), bytes);
  x.publish(1);
  x.await_all(1);
  const auto sources = x.sources();
  for (std::size_t pe = 0; pe < sources.size(); ++pe) {
    sources[pe] = x.read(static_cast<int>(pe), range, 0, bytes);
  }
  x.fold(x.out(), sources, x.problem().count);
}
std::size_t whole_vector(const Problem& problem, const Params&) { return bytes_of(problem); }
constexpr Algorithm kLooper = {
    Collective::Allreduce,  "looper", "", "", true, {}, anything, whole_vector, no_traffic,
    loop_among_the_real_pes};
const std::vector<const Algorithm*> kExtra = {&kLooper};

/// The child's side: a sweep of two sizes into a file, which it goes on with if it is there.
int sweep_into(const std::string& path) {
  Options options;
  options.extra_algorithms = kExtra;
  SweepPlan plan = {.collectives = {Collective::Allreduce},
                    .types = {DType::F32},
                    .placements = {Placement::Private},
                    .contracts = {Contract::Consistent},
                    .cycles = {Cycle::Same},
                    .smallest = 1024,
                    .largest = 4096,
                    .budget_seconds = 6};
  run(
      2,
      [&](Team& team) {
        Tuning found;
        const bool resumes = team.pe() == 0 && std::filesystem::exists(path);
        if (resumes) found = read_tuning(path, kExtra);
        found.sweep = SweepFacts{};
        SweepControl control;
        control.patience = milliseconds(5000);
        control.choices = {"one_shot", "looper"};
        control.extra_algorithms = kExtra;
        control.save = [&](const Tuning& tuning) { write_tuning(path, tuning); };
        sweep(team, plan, control, found);
      },
      options);
  return 0;
}

class WatchdogTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  ChildEnd sweep_in_a_child() const {
    return run_child({"/proc/self/exe", "sweep", path_}, milliseconds(60'000));
  }

  std::string path_ = ::testing::TempDir() + "watchdog_" + std::to_string(::getpid()) + ".json";
};

const MeasuredCandidate* looper_of(const MeasuredPoint& point) {
  return find_candidate(point, "looper");
}

TEST_F(WatchdogTest, a_candidate_that_loops_among_the_real_pes_ends_the_sweep_and_is_left_out) {
  const ChildEnd first = sweep_in_a_child();
  EXPECT_FALSE(first.timed_out);
  EXPECT_EQ(first.status, 1) << first.output;
  EXPECT_THAT(first.output, HasSubstr("looper has made no progress for"));
  EXPECT_THAT(first.output, HasSubstr("--resume"));
  const Tuning partial = read_tuning(path_, kExtra);
  ASSERT_EQ(partial.points.size(), 1u);
  EXPECT_EQ(partial.points[0].bytes, 1024u);
  EXPECT_FALSE(partial.sweep->complete);
  EXPECT_TRUE(partial.rules.empty());
  ASSERT_NE(looper_of(partial.points[0]), nullptr);
  EXPECT_EQ(looper_of(partial.points[0])->status, Status::Hung);
  EXPECT_THAT(hung_choices(partial.points), ElementsAre("allreduce=looper"));

  const ChildEnd second = sweep_in_a_child();
  EXPECT_EQ(second.status, 0) << second.output;
  const Tuning resumed = read_tuning(path_, kExtra);
  EXPECT_EQ(resumed.points[0], partial.points[0]) << "the record is kept";
  ASSERT_GT(resumed.points.size(), 1u) << second.output;
  for (std::size_t i = 1; i < resumed.points.size(); ++i) {
    const MeasuredPoint& point = resumed.points[i];
    ASSERT_NE(looper_of(point), nullptr);
    EXPECT_EQ(looper_of(point)->status, Status::Hung);
    EXPECT_THAT(looper_of(point)->reason, HasSubstr("not run again"));
    EXPECT_EQ(find_candidate(point, "one_shot")->status, Status::Measured);
  }
}

TEST(Watchdog, a_point_that_only_tells_of_a_hang_is_no_part_of_a_row) {
  Problem problem;
  problem.pes = 2;
  problem.count = 256;
  const MeasuredPoint hung = point_of({Cell{}, "one_shot", milliseconds(60'000)}, problem);
  MeasuredPoint measured = hung;
  measured.rounds = 20;
  EXPECT_TRUE(ended_sweep(hung));
  EXPECT_FALSE(ended_sweep(measured));
  EXPECT_TRUE(rows_of(std::vector{hung}).empty());
  EXPECT_EQ(rows_of(std::vector{hung, measured}).size(), 1u);
}

}  // namespace

/// "try allreduce ... CHOICE...", as tutti-tune has it.
int try_as_child(const std::vector<std::string>& arguments) {
  in_a_trial = true;
  Cell cell;
  cell.bytes = std::stoul(arguments[5]);
  const auto options = static_cast<std::ptrdiff_t>(bench::trial_arguments(cell, 2, {}).size());
  return bench::run_trials(cell, 2, {arguments.begin() + options, arguments.end()}, kExtra);
}

}  // namespace tutti::tests

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "try") return tutti::tests::try_as_child(arguments);
  if (arguments.size() == 2 && arguments[0] == "sweep") {
    dup2(STDOUT_FILENO, STDERR_FILENO);  // its parent reads the one
    return tutti::tests::sweep_into(arguments[1]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
