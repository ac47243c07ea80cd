// SPDX-License-Identifier: Apache-2.0
// Reports from the field: the life of a job, from its start to what it leaves behind. The page
// docs/field_reports.md has a row for each.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/environment.hpp"
#include "support/processes.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

void expect_good(const std::vector<Ending>& endings) {
  for (const Ending& ending : endings) {
    EXPECT_EQ(ending.error, "");
    EXPECT_EQ(ending.status, 0);
  }
}

/// `calls` sums of `mine` over all PEs; throws at the first that is not `sum`.
void sum_exactly(Team& team, int mine, int sum, int calls) {
  for (int i = 0; i < calls; ++i) {
    std::vector<int> data(5, mine);
    allreduce(team, data, Op::Sum);
    for (const int each : data) {
      if (each != sum) throw std::runtime_error("sum " + std::to_string(each));
    }
  }
}

TEST(FieldStart, a_pe_that_attaches_late_finds_what_the_first_one_has_left_behind) {
  const ScopedVariable late("TUTTI_DELAY_AT", "world.attach:2:" + std::to_string(rounds(20, 200)));
  for (int start = 0; start < rounds(8, 50); ++start) {
    // PE 0 drops its team as soon as it has it.
    expect_good(run_processes(3, [](Team& team, FaultClock&) {
      if (team.pe() == 0) return;
      Team pair = team.subteam("late", {2, 1});
      sum_exactly(pair, 1, 2, 3);
    }));
    run_world(4, static_cast<std::uint64_t>(start % 2), [](Team& team) {
      if (team.pe() == 0) return;
      Team others = team.subteam("late", {3, 2, 1});
      sum_exactly(others, 1, 3, 3);
    });
  }
}

/// An allgather over a team that is there already, and can lie: what PE 1 said last time.
class Repeater {
 public:
  explicit Repeater(Team& team) : team_(team) {}

  Allgather honest() {
    return [this](const void* mine, std::size_t bytes, void* all) {
      exchange(mine, bytes, all);
      const auto* first = static_cast<const std::uint8_t*>(all) + bytes;
      said_.emplace_back(first, first + bytes);
    };
  }
  /// From the second gather on PE 1 seems to say what it said in the honest round.
  Allgather lying() {
    return [this, round = std::size_t{0}](const void* mine, std::size_t bytes, void* all) mutable {
      exchange(mine, bytes, all);
      if (round == 1 && team_.pe() == 0) {
        std::ranges::copy(said_[round], static_cast<std::uint8_t*>(all) + bytes);
      }
      ++round;
    };
  }

 private:
  void exchange(const void* mine, std::size_t bytes, void* all) {
    allgather(
        team_, std::span(static_cast<const std::uint8_t*>(mine), bytes),
        std::span(static_cast<std::uint8_t*>(all), bytes * static_cast<std::size_t>(team_.size())));
  }

  Team& team_;
  std::vector<std::vector<std::uint8_t>> said_;
};

TEST(FieldStart, memory_of_an_earlier_job_is_not_taken_for_this_ones) {
  expect_good(run_processes(2, [](Team& team, FaultClock&) {
    Repeater repeater(team);
    {
      Team first = from_bootstrap(team.pe(), 2, repeater.honest());
      sum_exactly(first, 1, 2, 3);
    }
    team.barrier();
    const Caught error = caught([&] { from_bootstrap(team.pe(), 2, repeater.lying()); });
    if (error.text.find("PE 0 cannot reach the memory of PE 1") == std::string::npos) {
      throw std::runtime_error("not refused: " + error.text);
    }
    sum_exactly(team, 1, 2, 3);
  }));
}

TEST(FieldStart, killing_a_job_in_its_calls_leaves_nothing_and_the_next_one_is_exact) {
  const auto before = names_in_dev_shm();
  for (int round = 0; round < rounds(4, 20); ++round) {
    run_processes(3, [](Team& team, FaultClock&) {
      for (int calls = 0;; ++calls) {
        sum_exactly(team, 1, 3, 1);
        if (calls == 20 + 10 * team.pe()) std::raise(SIGKILL);
      }
    });
    EXPECT_EQ(names_in_dev_shm(), before);
    expect_good(
        run_processes(3, [](Team& team, FaultClock&) { sum_exactly(team, team.pe() + 1, 6, 20); }));
  }
}

TEST(FieldStart, two_jobs_of_one_user_at_the_same_time_do_not_mix) {
  const auto job = [](int value) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    bool good = true;
    for (const Ending& ending : run_processes(
             2, [&](Team&team, FaultClock&) { sum_exactly(team, value, 2 * value, 2000); })) {
      good = good && ending.status == 0;
    }
    _exit(good ? 0 : 1);
  };
  const pid_t ones = job(1);
  const pid_t thousands = job(1000);
  for (const pid_t pid : {ones, thousands}) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(FieldStart, two_worlds_of_one_process_at_the_same_time_do_not_mix) {
  std::vector<std::jthread> worlds;
  for (const int value : {1, 1000}) {
    worlds.emplace_back([value] {
      for (int again = 0; again < 5; ++again) {  // and a world after another
        run_world(2, static_cast<std::uint64_t>(again % 2), [&](Team& team) {
          sum_exactly(team, value, 2 * value, 200);
          Team half = team.split(team.pe());
          sum_exactly(half, value, value, 200);
        });
      }
    });
  }
}

/// Everything that a forked child might do with its parent's team, tensors and words.
void expect_child_refused(Team& team, const ShmemTensor<int>& x, const Signals& signals,
                          const Atomics& atomics) {
  const std::vector<int> one(1, 1);
  std::vector<int> sink(1);
  const std::vector<std::pair<const char*, std::function<void()>>> all = {
      {"barrier", [&] { team.barrier(); }},
      {"split", [&] { team.split(0); }},
      {"subteam", [&] { team.subteam("child", {team.pe()}); }},
      {"make_tensor", [&] { make_tensor<int>(team, {1}); }},
      {"allreduce", [&] { allreduce(team, sink, Op::Sum); }},
      {"put", [&] { put(one, x.view({0}, {1}), 1); }},
      {"get", [&] { get(x.view({0}, {1}), 1, sink); }},
      {"signal", [&] { signal(signals[0], 1, 1, Update::Set); }},
      {"put_signal", [&] { put_signal(one, x.view({0}, {1}), signals[0], 1, 1, Update::Set); }},
      {"wait_until", [&] { wait_until(signals[0], Cmp::Ge, 1); }},
      {"test", [&] { test(signals[0], Cmp::Ge, 1); }},
      {"fetch_add", [&] { fetch_add(atomics[0], 1, 1); }},
      {"quiet", [&] { quiet(team); }},
      {"fence", [&] { fence(team); }},
  };
  for (const auto& [name, operation] : all) {
    const Caught error = caught(operation);
    if (error.text.find("fork") == std::string::npos) {
      throw std::runtime_error(std::string(name) + " of a child: " + error.text);
    }
  }
}

int status_of_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(FieldStart, a_forked_child_may_exit_exec_or_try_any_operation_and_its_parent_goes_on) {
  expect_good(run_processes(2, [](Team& team, FaultClock&) {
    auto x = make_tensor<int>(team, {4});
    auto signals = make_signals(team, 1);
    auto atomics = make_atomics(team, 1);
    if (team.pe() == 0) {
      const bool good =
          status_of_child([] { std::exit(0); }) == 0 &&
          status_of_child([] { execl("/bin/true", "true", nullptr); }) == 0 &&
          status_of_child([&] { expect_child_refused(team, x, signals, atomics); }) == 0;
      if (!good) throw std::runtime_error("a child did not end as it should");
    }
    sum_exactly(team, team.pe() + 1, 3, 100);
    if (signals[0].value() != 0 || atomics[0].value() != 0) throw std::runtime_error("touched");
  }));
}

TEST(FieldStart, a_child_that_drops_its_copies_takes_nothing_from_its_parent) {
  expect_good(run_processes(2, [](Team& team, FaultClock&) {
    std::optional<ShmemTensor<int>> x = make_tensor<int>(team, {1000});
    std::ranges::fill(x->local(), 7);
    // Both PEs' children let go of it: twice as many as could make the range free.
    if (status_of_child([&] { x.reset(); }) != 0) throw std::runtime_error("child");
    team.barrier();
    std::vector<ShmemTensor<int>> more;
    for (int i = 0; i < 5; ++i) {
      more.push_back(make_tensor<int>(team, {1000}));
      std::ranges::fill(more.back().local(), 9);
    }
    for (const int each : x->local()) {
      if (each != 7) throw std::runtime_error("the range was given away");
    }
  }));
}

/// Gives the calling process a /dev/shm of its own of 4 MiB; false if it may not.
bool shrink_dev_shm() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tutti", "/dev/shm", "tmpfs", 0, "size=4m") == 0;
}

TEST(FieldStart, symmetric_memory_is_not_bounded_by_a_small_dev_shm) {
  constexpr int kMayNot = 77;
  const int status = status_of_child([] {
    if (!shrink_dev_shm()) _exit(kMayNot);
    const auto endings = run_processes(2, [](Team& team, FaultClock&) {
      auto x = make_tensor<std::uint8_t>(team, {16 << 20});
      std::ranges::fill(x.local(), static_cast<std::uint8_t>(team.pe() + 1));
      team.barrier();
      std::vector<std::uint8_t> theirs(16 << 20);
      get(x, 1 - team.pe(), theirs);
      if (std::ranges::count(theirs, 2 - team.pe()) != 16 << 20) throw std::runtime_error("bytes");
    });
    for (const Ending& ending : endings) {
      if (ending.status != 0) throw std::runtime_error(ending.error);
    }
  });
  if (WEXITSTATUS(status) == kMayNot) GTEST_SKIP() << "may not mount here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tutti::tests
