// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <string>

#include "bench/tune/contain.hpp"
#include "bench/tune/grid.hpp"
#include "tutti/error.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds kLong{30'000};

ChildEnd shell(const std::string& script, milliseconds deadline = kLong) {
  return run_child({"/bin/sh", "-c", script}, deadline);
}

TEST(TuneContain, output_and_exit_status_of_a_child_are_told) {
  const ChildEnd end = shell("echo one; echo two; exit 3");
  EXPECT_EQ(end.output, "one\ntwo\n");
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.signal, 0);
  EXPECT_FALSE(end.timed_out);
}

TEST(TuneContain, a_crash_ends_the_child_alone) {
  EXPECT_EQ(shell("kill -SEGV $$").signal, SIGSEGV);
}

TEST(TuneContain, a_child_that_hangs_is_killed_at_the_deadline) {
  const ChildEnd end = shell("echo begun; exec sleep 1000", milliseconds(300));
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.output, "begun\n");
}

TEST(TuneContain, a_child_that_loops_for_ever_is_killed_too) {
  const ChildEnd end = shell("echo begun; while :; do :; done", milliseconds(300));
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(TuneContain, only_silence_counts_not_the_time_of_all_candidates) {
  const std::string script = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done";
  const ChildEnd end = shell(script, milliseconds(1200));
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(end.output, "1\n2\n3\n4\n5\n6\n7\n8\n");
}

TEST(TuneContain, a_child_does_not_see_the_variables_of_this_job) {
  setenv("TUTTI_ALGORITHM", "allreduce=ring", 1);
  EXPECT_EQ(shell("echo \"[$TUTTI_ALGORITHM]\"").output, "[]\n");
  unsetenv("TUTTI_ALGORITHM");
}

TEST(TuneContain, a_program_that_is_not_there_is_an_error) {
  EXPECT_THROW(run_child({"/no/such/program"}, kLong), Error);
}

TEST(TuneContain, the_candidate_that_was_begun_and_not_finished_ended_the_child) {
  const auto trials =
      read_trials(shell("echo begin a; echo right; echo begin b; echo wrong 3 elements;"
                        "echo begin c; kill -SEGV $$"));
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_TRUE(trials[0].right);
  EXPECT_TRUE(trials[1].wrong);
  EXPECT_EQ(trials[1].reason, "3 elements");
  EXPECT_EQ(trials[2].choice, "c");
  EXPECT_FALSE(trials[2].right || trials[2].wrong || trials[2].hung);
  EXPECT_THAT(trials[2].reason, HasSubstr("crashed: Segmentation fault"));
}

TEST(TuneContain, a_hanging_candidate_is_told_from_a_crashing_one) {
  const auto trials = read_trials(shell("echo begin a; exec sleep 1000", milliseconds(300)));
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_TRUE(trials[0].hung);
}

TEST(TuneGrid, every_kind_is_seen_at_a_few_sizes_before_any_is_seen_at_more) {
  SweepPlan plan;
  plan.collectives = {Collective::Allreduce, Collective::Allgather};
  plan.types = {DType::F32};
  plan.placements = {Placement::Private, Placement::Symmetric};
  plan.contracts = {Contract::Consistent, Contract::Ordered};
  plan.cycles = {Cycle::Same};
  const std::vector<std::size_t> sizes = grid_sizes(plan.smallest, plan.largest);
  EXPECT_EQ(sizes.front(), 8u);
  EXPECT_EQ(sizes.back(), plan.largest);
  const std::vector<Cell> cells = grid_cells(plan, 2);
  // Where nothing is reduced the contract makes no difference.
  EXPECT_EQ(cells.size(), 2 * 3 * sizes.size());
  std::size_t first_small = 0;
  while (cells[first_small].bytes != sizes[1]) ++first_small;
  std::size_t allgathers = 0;
  for (std::size_t i = 0; i < first_small; ++i) {
    allgathers += cells[i].collective == Collective::Allgather ? 1 : 0;
  }
  EXPECT_GT(allgathers, 2u);
}

TEST(TuneGrid, other_collectives_come_a_step_later_and_none_is_left_out) {
  SweepPlan plan;
  plan.collectives = {Collective::Scatter, Collective::Allreduce};
  plan.types = {DType::F32};
  plan.placements = {Placement::Private};
  plan.contracts = {Contract::Consistent};
  plan.cycles = {Cycle::Same};
  const std::vector<Cell> cells = grid_cells(plan, 2);
  EXPECT_EQ(cells.size(), 2 * grid_sizes(plan.smallest, plan.largest).size());
  EXPECT_EQ(cells.front().collective, Collective::Allreduce);
  EXPECT_EQ(cells.back().collective, Collective::Scatter);
}

TEST(TuneGrid, no_size_is_empty_and_none_comes_twice) {
  SweepPlan plan;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    plan.collectives.push_back(static_cast<Collective>(c));
  }
  plan.types = {DType::F64, DType::F32, DType::U8};
  plan.placements = {Placement::Private};
  plan.contracts = {Contract::Consistent};
  plan.cycles = {Cycle::Same};
  plan.smallest = 1;
  for (const int pes : {2, 3, 8, 33}) {
    const std::vector<Cell> cells = grid_cells(plan, pes);
    for (const Cell& cell : cells) {
      const std::string what = std::string(name_of(cell.collective)) + " of " +
                               std::to_string(cell.bytes) + " bytes, PEs: " + std::to_string(pes);
      const std::size_t elements = cell.bytes / size_of(cell.dtype);
      EXPECT_EQ(elements * size_of(cell.dtype), cell.bytes) << what;
      EXPECT_EQ(std::ranges::count(cells, cell), 1) << what;
      const Blocks blocks(elements, pes, has_counts(cell.collective));
      const bool one_vector = !has_blocks(cell.collective) && !has_counts(cell.collective);
      EXPECT_GE(one_vector ? elements : blocks.size(0), 1u) << what;
      EXPECT_EQ(one_vector ? elements : blocks.total(), elements) << what;
    }
  }
}

}  // namespace
}  // namespace tutti::tests
