// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/processes.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Calls allreduce until it fails or `calls` are done.
void keep_calling(Team& team, int calls = 1'000'000) {
  std::vector<float> data(64, 1);
  for (int i = 0; i < calls; ++i) {
    std::ranges::fill(data, 1.0F);
    allreduce(team, data, Op::Sum);
  }
}

/// What each thread PE's body ends with.
std::vector<std::string> errors_of(int pes, const std::function<void(Team&)>& body,
                                   const Options& options = {}) {
  std::vector<std::string> errors(static_cast<std::size_t>(pes));
  run(
      pes,
      [&](Team& team) {
        try {
          body(team);
        } catch (const Error& error) {
          errors[static_cast<std::size_t>(team.pe())] = error.what();
        }
      },
      options);
  return errors;
}

TEST(Failure, a_killed_process_ends_the_others_within_two_seconds) {
  const auto endings = run_processes(3, [](Team& team, FaultClock& clock) {
    keep_calling(team, 200);
    if (team.pe() == 1) {
      clock.fault_now();
      std::raise(SIGKILL);
    }
    keep_calling(team);
  });
  for (const int pe : {0, 2}) {
    const Ending& ending = endings[static_cast<std::size_t>(pe)];
    EXPECT_THAT(ending.error, AllOf(HasSubstr("PE 1"), HasSubstr("team world"), HasSubstr("call")));
    EXPECT_EQ(WEXITSTATUS(ending.status), 1);
    EXPECT_LT(ending.seconds, 2.0);
  }
}

TEST(Failure, a_process_that_exits_without_finishing_ends_the_others) {
  const auto endings = run_processes(2, [](Team& team, FaultClock& clock) {
    keep_calling(team, 20);
    if (team.pe() == 1) {
      clock.fault_now();
      _exit(0);
    }
    keep_calling(team);
  });
  EXPECT_THAT(endings[0].error, AllOf(HasSubstr("PE 1"), HasSubstr("without finishing")));
  EXPECT_LT(endings[0].seconds, 2.0);
}

TEST(Failure, a_stopped_process_ends_the_others_at_the_deadline) {
  const auto endings = run_processes(
      3,
      [](Team& team, FaultClock& clock) {
        keep_calling(team, 50);
        if (team.pe() == 2) {
          clock.fault_now();
          std::raise(SIGSTOP);
        }
        keep_calling(team);
      },
      {.timeout = std::chrono::milliseconds(500)}, 4);
  for (const int pe : {0, 1}) {
    const Ending& ending = endings[static_cast<std::size_t>(pe)];
    EXPECT_THAT(ending.error, HasSubstr("PE 2"));
    EXPECT_LT(ending.seconds, 2.0);
  }
}

TEST(Failure, a_throwing_process_ends_the_others_with_its_own_words) {
  const auto endings = run_processes(3, [](Team& team, FaultClock& clock) {
    keep_calling(team, 50);
    if (team.pe() == 0) {
      clock.fault_now();
      throw Error(ErrorCode::System, "the printer is on fire");
    }
    keep_calling(team);
  });
  // Its process ends right after the exception: the others see one or the other.
  for (const int pe : {1, 2}) {
    const Ending& ending = endings[static_cast<std::size_t>(pe)];
    EXPECT_THAT(ending.error, HasSubstr("PE 0"));
    EXPECT_LT(ending.seconds, 2.0);
  }
}

TEST(Failure, a_throwing_thread_ends_the_others_and_run_rethrows_its_exception) {
  const auto start = std::chrono::steady_clock::now();
  try {
    run(4, [](Team& team) {
      keep_calling(team, 50);
      if (team.pe() == 3) throw std::runtime_error("boom");
      keep_calling(team);
    });
    FAIL() << "run returned";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "boom");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Failure, the_others_are_told_what_was_thrown) {
  std::vector<std::string> errors(3);
  EXPECT_THROW(run(3,
                   [&](Team& team) {
                     if (team.pe() == 1) throw std::runtime_error("boom");
                     try {
                       team.barrier();
                     } catch (const Error& error) {
                       errors[static_cast<std::size_t>(team.pe())] = error.what();
                       throw;
                     }
                   }),
               std::exception);
  EXPECT_THAT(errors[0], AllOf(HasSubstr("PE 1"), HasSubstr("boom"), HasSubstr("barrier")));
  EXPECT_THAT(errors[2], HasSubstr("boom"));
}

TEST(Failure, a_slow_pe_is_never_given_up_by_default) {
  run(2, [](Team& team) {
    if (team.pe() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    team.barrier();
  });
}

TEST(Failure, a_deadline_of_one_call_names_who_is_missing_and_what_it_did_last) {
  const auto errors = errors_of(2, [](Team& team) {
    std::vector<int> data(100, 1);
    allreduce(team, data, Op::Sum);
    if (team.pe() == 1) return;
    team.barrier();  // PE 1 has left: this is a missing call, not a slow PE
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("PE 1"), HasSubstr("has finished")));
}

struct Mismatch {
  const char* name;
  std::function<void(Team&)> one;
  std::function<void(Team&)> other;
};

std::vector<int>& ints(std::size_t count) {
  thread_local std::vector<int> data;
  data.assign(count, 1);
  return data;
}
std::vector<float>& floats(std::size_t count) {
  thread_local std::vector<float> data;
  data.assign(count, 1);
  return data;
}

TEST(Failure, every_kind_of_mismatched_call_is_named_on_both_pes) {
  const std::vector<Mismatch> kinds = {
      {"count", [](Team& t) { allreduce(t, ints(100), Op::Sum); },
       [](Team& t) { allreduce(t, ints(101), Op::Sum); }},
      {"small count", [](Team& t) { allreduce(t, ints(1), Op::Sum); },
       [](Team& t) { allreduce(t, ints(2), Op::Sum); }},
      {"collective", [](Team& t) { allreduce(t, ints(8), Op::Sum); },
       [](Team& t) { broadcast(t, ints(8), 0); }},
      {"type", [](Team& t) { allreduce(t, ints(8), Op::Sum); },
       [](Team& t) { allreduce(t, floats(8), Op::Sum); }},
      {"op", [](Team& t) { allreduce(t, ints(8), Op::Sum); },
       [](Team& t) { allreduce(t, ints(8), Op::Max); }},
      {"root", [](Team& t) { broadcast(t, ints(8), 0); },
       [](Team& t) { broadcast(t, ints(8), 1); }},
      {"barrier", [](Team& t) { t.barrier(); }, [](Team& t) { allreduce(t, ints(8), Op::Sum); }},
      {"order",
       [](Team& t) {
         allreduce(t, ints(3), Op::Sum);
         t.barrier();
       },
       [](Team& t) {
         t.barrier();
         allreduce(t, ints(3), Op::Sum);
       }},
  };
  for (const Mismatch& kind : kinds) {
    const auto errors = errors_of(2, [&](Team& team) {
      keep_calling(team, 3);
      (team.pe() == 0 ? kind.one : kind.other)(team);
      // Whoever did not have to wait in that call hears of it in the next.
      keep_calling(team, 3);
    });
    for (const std::string& error : errors) {
      EXPECT_THAT(error, AllOf(HasSubstr("PE 0"), HasSubstr("PE 1"))) << kind.name;
    }
  }
}

TEST(Failure, a_refusal_by_all_leaves_the_team_usable) {
  const auto errors = errors_of(3, [](Team& team) {
    std::vector<int> in(4);
    std::vector<int> out(5);
    EXPECT_THROW(allreduce(team, in, out, Op::Sum), Error);
    EXPECT_THROW(broadcast(team, in, 7), Error);
    EXPECT_THROW(allreduce(team, std::vector<float>(4), Op::And), Error);
    EXPECT_THROW(allreduce(team, in, Op::Sum, {.algorithm = "no_such"}), Error);
    keep_calling(team, 10);
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Failure, a_refusal_by_one_is_quoted_by_the_others) {
  const auto errors = errors_of(2, [](Team& team) {
    std::vector<int> in(4, 1);
    std::vector<int> out(team.pe() == 1 ? 3 : 4);
    allreduce(team, in, out, Op::Sum);
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("PE 1"), HasSubstr("refused"), HasSubstr("3")));
  EXPECT_THAT(errors[1], HasSubstr("out"));
}

TEST(Failure, overlap_that_is_not_in_place_is_refused_by_name) {
  const auto errors = errors_of(2, [](Team& team) {
    std::vector<int> data(16, 1);
    allreduce(team, data.data(), data.data() + 1, 8, Op::Sum);
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("in ["), HasSubstr("overlaps out [")));
  EXPECT_EQ(errors[0].empty(), errors[1].empty());
}

TEST(Failure, the_heap_limit_is_the_same_error_on_all_and_the_team_goes_on) {
  const auto errors =
      errors_of(3,
                [](Team& team) {
                  try {
                    auto x = make_tensor<double>(team, {1 << 20});
                    ADD_FAILURE() << "8 MiB fit in 4 MiB";
                  } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
                    EXPECT_THAT(error.what(), AllOf(HasSubstr("TUTTI_HEAP"), HasSubstr("4M")));
                  }
                  auto y = make_tensor<double>(team, {1000});
                  keep_calling(team, 5);
                },
                {.heap_bytes = std::size_t{4} << 20});
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Failure, all_of_the_heap_that_was_granted_can_be_used) {
  const auto errors = errors_of(2,
                                [](Team& team) {
                                  // 1 MiB from the start and 1.5 here: doubling would ask for more
                                  // than the 1.5 that are left.
                                  auto first = make_tensor<std::byte>(team, {std::size_t{3} << 19});
                                  auto second =
                                      make_tensor<std::byte>(team, {std::size_t{5} << 18});
                                },
                                {.heap_bytes = std::size_t{4} << 20});
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Failure, a_forked_child_is_refused_and_the_parent_goes_on) {
  const auto endings = run_processes(2, [](Team& team, FaultClock&) {
    keep_calling(team, 5);
    if (team.pe() == 0) {
      const pid_t child = fork();
      if (child == 0) {
        try {
          team.barrier();
        } catch (const Error& error) {
          _exit(std::string(error.what()).find("fork") != std::string::npos ? 42 : 1);
        }
        _exit(2);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (WEXITSTATUS(status) != 42) throw std::runtime_error("the child was not refused");
    }
    keep_calling(team, 100);
  });
  for (const Ending& ending : endings) EXPECT_EQ(ending.error, "");
}

TEST(Failure, killing_all_processes_leaves_nothing_in_dev_shm) {
  const auto names = [] {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      if (entry.path().filename().string().find("tutti") != std::string::npos) {
        all.push_back(entry.path());
      }
    }
    return all;
  };
  const auto before = names();
  run_processes(3, [](Team& team, FaultClock&) {
    keep_calling(team, 20);
    std::raise(SIGKILL);
  });
  EXPECT_EQ(names(), before);
}

TEST(Failure, processes_compute_what_threads_compute) {
  const auto endings = run_processes(4, [](Team& team, FaultClock&) {
    for (std::size_t count : {1, 100, 5000, 300000}) {
      std::vector<int> data(count, team.pe() + 1);
      allreduce(team, data, Op::Sum);
      for (const int value : data) {
        if (value != 10) throw std::runtime_error("wrong sum " + std::to_string(value));
      }
    }
  });
  for (const Ending& ending : endings) EXPECT_EQ(ending.error, "");
}

}  // namespace
}  // namespace tutti::tests
