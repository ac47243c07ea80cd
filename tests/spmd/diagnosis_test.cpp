// SPDX-License-Identifier: Apache-2.0
// What Tutti says of a job that hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "support/processes.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// PE i holds up its barrier with PE i - 1 by first entering the one with PE i + 1.
void wait_in_a_circle(Team& team) {
  std::vector<Team> pairs;
  for (int first = 0; first < team.size(); ++first) {
    const int second = (first + 1) % team.size();
    if (team.pe() != first && team.pe() != second) continue;
    pairs.push_back(team.subteam("pair " + std::to_string(first), {first, second}));
  }
  if (team.pe() == 0) std::swap(pairs[0], pairs[1]);
  // Now every PE enters the pair in which it is second, and nobody the one in which it is first.
  for (Team& pair : pairs) pair.barrier();
}

TEST(Diagnosis, a_cycle_of_waits_over_overlapping_teams_is_reported_to_all_in_it) {
  std::array<Caught, 3> errors;
  const Caught first = caught([&] {
    run(3, [&](Team& team) {
      auto& mine = errors[static_cast<std::size_t>(team.pe())];
      mine = caught([&] { wait_in_a_circle(team); });
      if (!mine.text.empty()) throw Error(mine.code, mine.text);
    });
  });
  EXPECT_NE(first.text, "");
  EXPECT_THAT(first.text, AllOf(HasSubstr("cycle of waits"), HasSubstr("PE 0 of the job: barrier"),
                                HasSubstr("PE 1 of the job: barrier"),
                                HasSubstr("PE 2 of the job: barrier"), HasSubstr("world/pair")));
  for (const Caught& error : errors) EXPECT_NE(error.text, "");
}

TEST(Diagnosis, waits_with_a_deadline_are_left_to_it) {
  Options options;
  options.timeout = std::chrono::milliseconds(600);
  const Caught error = caught([&] {
    run(
        3, [](Team& team) { wait_in_a_circle(team); }, options);
  });
  EXPECT_THAT(error.text, AllOf(HasSubstr("barrier"), HasSubstr("within 0.6 s")));
}

TEST(Diagnosis, a_chain_of_slow_pes_is_no_cycle) {
  run(3, [](Team& team) {
    Team low = team.split(team.pe() == 2 ? 1 : 0);
    for (int round = 0; round < 3; ++round) {
      if (team.pe() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      low.barrier();   // PE 0 waits for PE 1
      team.barrier();  // PE 2 waits for both
    }
  });
}

/// Looks at its own process until PE `pe` waits.
PeStatus status_when_waiting(int pid, int pe) {
  for (;;) {
    for (const PeStatus& status : job_status(pid)) {
      if (status.pe == pe && status.waiting) return status;
    }
    std::this_thread::yield();
  }
}

TEST(Diagnosis, the_status_of_threads_says_who_waits_for_whom_in_which_call) {
  run(3, [](Team& team) {
    std::vector<float> data(10, 1);
    allreduce(team, data, Op::Sum);
    if (team.pe() == 1) {
      const PeStatus status = status_when_waiting(getpid(), 0);
      EXPECT_EQ(status.pes, 3);
      EXPECT_EQ(status.pid, getpid());
      EXPECT_EQ(status.state, "running");
      EXPECT_GT(status.waiting_seconds, 0);
      EXPECT_THAT(status.waits_for,
                  AllOf(HasSubstr("barrier"), HasSubstr("team world"),
                        HasSubstr("waiting for PE 1 (last in call"), HasSubstr("allreduce")));
    }
    team.barrier();
  });
}

TEST(Diagnosis, a_stopped_process_is_seen_from_outside_as_the_one_that_did_not_arrive) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  // An outsider, who is no PE: looks at the job through the process of PE 0.
  const pid_t outsider = fork();
  if (outsider == 0) {
    std::array<pid_t, 2> pids{};
    if (read(pipe_ends[0], pids.data(), sizeof pids) != sizeof pids) _exit(9);
    const PeStatus waits = status_when_waiting(pids[0], 0);
    const std::vector<PeStatus> all = job_status(pids[0]);
    const bool good = all.size() == 2 && all[1].pid == pids[1] && all[1].process == "stopped" &&
                      waits.waits_for.find("PE 1") != std::string::npos;
    kill(pids[1], SIGCONT);
    _exit(good ? 0 : 1);
  }
  const auto endings = run_processes(2, [&](Team& team, FaultClock&) {
    std::array<pid_t, 2> pids{};
    const std::vector<pid_t> mine = {getpid()};
    allgather(team, std::vector<std::int32_t>(mine.begin(), mine.end()), pids);
    if (team.pe() == 1) std::raise(SIGSTOP);
    if (team.pe() == 0) {
      EXPECT_EQ(write(pipe_ends[1], pids.data(), sizeof pids), static_cast<ssize_t>(sizeof pids));
    }
    team.barrier();
  });
  for (const Ending& ending : endings) EXPECT_EQ(ending.error, "");
  int status = 0;
  waitpid(outsider, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(Diagnosis, processes_that_do_not_exist_or_have_no_job_are_told_apart) {
  expect_refused([] { job_status(1 << 30); }, "no process");
  EXPECT_TRUE(job_status(getpid()).empty());
}

}  // namespace
}  // namespace tutti::tests
