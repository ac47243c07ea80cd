// SPDX-License-Identifier: Apache-2.0
// Reports from the field: peers that die and calls that do not match, wherever a PE may wait. The
// page docs/field_reports.md has a row for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/environment.hpp"
#include "support/processes.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A way to wait for PE 1, and how the error names it.
struct Wait {
  const char* name;
  std::function<void(Team&)> until_hopeless;
};

const std::vector<Wait>& all_waits() {
  static const std::vector<Wait> waits = {
      {"barrier", [](Team& team) { team.barrier(); }},
      {"agreement", [](Team& team) { make_tensor<int>(team, {5}); }},
      {"agreement", [](Team& team) { make_signals(team, 1); }},
      {"agreement", [](Team& team) { team.split(0); }},
      {"subteam \"all\"",
       [](Team& team) {
         team.subteam("all", {0, 1, 2});
       }},
  };
  return waits;
}

/// Waits on words that PE 1 will never raise; the words are made while it lives.
void wait_on_a_word(int which, const Signals& signals, const Published& published) {
  switch (which) {
    case 0:
      wait_until(signals[0], Cmp::Ge, 1);
      break;
    case 1:
      await(published[0], 1, 1);
      break;
    case 2:
      wait_any(signals, Cmp::Ge, 1);
      break;
    case 3:
      wait_all(signals, Cmp::Ge, 1);
      break;
    default:
      while (!test(signals[0], Cmp::Ge, 1)) {
      }
  }
}

void expect_named(const std::vector<Ending>& endings, const std::string& operation) {
  for (const std::size_t pe : {0, 2}) {
    EXPECT_THAT(endings[pe].error, AllOf(HasSubstr("PE 1"), HasSubstr(operation))) << operation;
    EXPECT_EQ(WEXITSTATUS(endings[pe].status), 1) << operation;
  }
  EXPECT_EQ(WTERMSIG(endings[1].status), SIGKILL);
}

TEST(FieldFailure, a_killed_peer_ends_every_collective_wait_and_is_named) {
  for (const Wait& wait : all_waits()) {
    const auto endings = run_processes(3, [&](Team& team, FaultClock&) {
      team.barrier();
      if (team.pe() == 1) std::raise(SIGKILL);
      wait.until_hopeless(team);
    });
    expect_named(endings, wait.name);
  }
}

TEST(FieldFailure, a_killed_peer_ends_every_wait_on_a_word_once_nobody_else_can_raise_it) {
  const std::array<const char*, 5> names = {"wait_until", "await", "wait_any", "wait_all", "test"};
  for (int which = 0; which < 5; ++which) {
    const auto endings = run_processes(3, [&](Team& team, FaultClock&) {
      auto signals = make_signals(team, 2);
      auto published = make_published(team, 1);
      team.barrier();
      if (team.pe() == 1) std::raise(SIGKILL);
      wait_on_a_word(which, signals, published);
    });
    expect_named(endings, names[static_cast<std::size_t>(which)]);
  }
}

TEST(FieldFailure, a_peer_that_is_killed_inside_a_call_is_named_with_call_and_team) {
  const auto before = names_in_dev_shm();
  const auto endings = run_processes(3, [](Team& team, FaultClock&) {
    std::atomic<int> calls{0};
    std::jthread killer;
    if (team.pe() == 1) {
      killer = std::jthread([&] {  // its process is in a call nearly all the time
        while (calls.load() < 30) std::this_thread::yield();
        std::raise(SIGKILL);
      });
    }
    std::vector<float> data(100'000, 1);
    for (;; ++calls) allreduce(team, data, Op::Max);
  });
  for (const std::size_t pe : {0, 2}) {
    EXPECT_THAT(endings[pe].error, AllOf(HasSubstr("PE 1"), HasSubstr("allreduce"),
                                         HasSubstr("call"), HasSubstr("team world")));
  }
  EXPECT_EQ(names_in_dev_shm(), before);
}

struct Mismatch {
  const char* name;
  std::function<void(Team&)> one;
  std::function<void(Team&)> other;
};

TEST(FieldFailure, primitive_calls_that_do_not_match_are_named_on_all_pes_and_nothing_is_touched) {
  const auto tensor = [](Team& t) { make_tensor<int>(t, {4}); };
  const std::vector<Mismatch> kinds = {
      {"barrier and make_tensor", [](Team& t) { t.barrier(); }, tensor},
      {"make_signals and make_tensor", [](Team& t) { make_signals(t, 4); }, tensor},
      {"split and make_tensor", [](Team& t) { t.split(0); }, tensor},
      {"split and make_signals", [](Team& t) { t.split(0); }, [](Team& t) { make_signals(t, 4); }},
      {"signals and counters", [](Team& t) { make_signals(t, 4); },
       [](Team& t) { make_counters(t, 4); }},
  };
  for (const Mismatch& kind : kinds) {
    std::array<Caught, 3> errors;
    run(3, [&](Team& team) {
      auto x = make_tensor<int>(team, {8});
      std::ranges::fill(x.local(), 5);
      team.barrier();
      errors[static_cast<std::size_t>(team.pe())] = caught([&] {
        (team.pe() == 1 ? kind.other : kind.one)(team);
        team.barrier();
      });
      EXPECT_THAT(x.local(), testing::Each(5)) << kind.name;
    });
    for (const Caught& error : errors) {
      EXPECT_THAT(error.text, HasSubstr("PE 1")) << kind.name;
    }
  }
}

TEST(FieldFailure, a_pe_that_makes_one_call_fewer_is_named_by_those_that_wait_for_it) {
  std::array<Caught, 3> errors;
  run(3, [&](Team& team) {
    errors[static_cast<std::size_t>(team.pe())] = caught([&] {
      for (int call = team.pe() == 2 ? 1 : 0; call < 20; ++call) team.barrier();
    });
  });
  for (const std::size_t pe : {0, 1}) {
    EXPECT_THAT(errors[pe].text, AllOf(HasSubstr("barrier, call"), HasSubstr("PE 2")));
  }
  EXPECT_EQ(errors[2].text, "");
}

TEST(FieldFailure, operations_in_flight_end_well_though_their_peers_have_finished_and_left) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  // PE 0 looks at its operation, then sleeps; the others end it and leave meanwhile.
  const ScopedVariable late("TUTTI_DELAY_AT", "finish.ended:0:60");
  for (const std::uint64_t seed : {0, 1}) {
    run_world(3, seed, [](Team& team) {
      std::vector<int> data(3000, team.pe());
      for (int pause = 0; pause < 1000 * team.pe(); ++pause) std::this_thread::yield();
      Request request = start_allreduce(team, data, Op::Sum, {.algorithm = "two_shot"});
      request.finish();
      EXPECT_THAT(data, ::testing::Each(3));
    });
  }
}

TEST(FieldFailure, an_operation_that_is_given_up_lets_go_of_its_team) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  const std::size_t before = shared_mappings();
  // PE 0 sleeps between its looks: when it finds the team unusable its operation still waits.
  const ScopedVariable late("TUTTI_DELAY_AT", "finish.ended:0:20");
  for (int pauses = 0; pauses < 50'000; pauses += 5000) {
    const Caught error = caught([pauses] {
      run(3, [pauses](Team& team) {
        std::vector<int> data(3000, team.pe());
        Request request = start_allreduce(team, data, Op::Sum, {.algorithm = "two_shot"});
        for (int i = 0; i < pauses && team.pe() == 1; ++i) std::this_thread::yield();
        if (team.pe() == 1) throw Error(ErrorCode::System, "the disk is full");
        request.finish();
      });
    });
    EXPECT_THAT(error.text, HasSubstr("the disk is full"));
    EXPECT_EQ(shared_mappings(), before) << pauses << " pauses";
  }
}

TEST(FieldFailure, memory_of_a_thread_that_has_left_is_not_mapped_any_more) {
  if (!kHasPoints) GTEST_SKIP() << "needs the named points";
  // PE 1 has made its part of the ring and is gone when PE 2 comes to map it.
  const ScopedVariable late("TUTTI_DELAY_AT", "block.attach:2:100");
  const Caught error = caught([] {
    run(3, [](Team& team) {
      std::vector<int> data(3000, team.pe());
      Request request = start_allreduce(team, data, Op::Sum, {.algorithm = "two_shot"});
      const auto leaves = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      while (team.pe() == 1 && std::chrono::steady_clock::now() < leaves) request.test();
      if (team.pe() == 1) throw Error(ErrorCode::System, "the disk is full");
      request.finish();
    });
  });
  EXPECT_THAT(error.text, HasSubstr("the disk is full"));
}

TEST(FieldFailure, after_a_failure_every_later_call_on_the_team_says_why) {
  run(2, [](Team& team) {
    auto x = make_tensor<int>(team, {4});
    auto words = make_signals(team, 1);
    Team other = team.split(0);
    const Caught first = caught([&] {
      std::vector<int> data(team.pe() == 0 ? 3 : 4);
      allreduce(team, data, Op::Sum);
      team.barrier();
    });
    EXPECT_NE(first.text, "");
    const std::vector<std::function<void()>> later = {
        [&] { team.barrier(); },
        [&] { make_tensor<int>(team, {1}); },
        [&] { put(std::vector<int>(4), x, 0); },
        [&] { signal(words[0], 0, 1, Update::Set); },
        [&] { wait_until(words[0], Cmp::Ge, 1); },
    };
    other.barrier();  // by now everybody knows
    for (const auto& call : later) {
      const Caught error = caught(call);
      EXPECT_EQ(error.code, first.code) << error.text;
      EXPECT_THAT(error.text, AllOf(HasSubstr("unusable"), HasSubstr("count")));
    }
    int one = 1;
    allreduce(other, &one, &one, 1, Op::Sum);
    EXPECT_EQ(one, 2) << "another team of the same PEs goes on";
  });
}

}  // namespace
}  // namespace tutti::tests
