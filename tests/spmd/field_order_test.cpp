// SPDX-License-Identifier: Apache-2.0
// Reports from the field: order of words and data, sizes of nothing and of teams that are very
// small, very large or very late. The page docs/field_reports.md has a row for each.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <random>
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

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(value); }

TEST(FieldOrder, a_message_in_flight_survives_the_barriers_that_it_overlaps) {
  for (int pes = 1; pes <= 3; ++pes) {
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      run_world(pes, seed, [](Team& team) {
        auto mail = make_tensor<int>(team, {100});
        auto posted = make_signals(team, 1);
        for (int round = 1; round <= rounds(10, 100); ++round) {
          if (team.pe() == team.size() - 1) {
            put_signal(std::vector<int>(100, round), mail, posted[0], 0, wide(round), Update::Set);
          }
          for (int i = 0; i < 3; ++i) team.barrier();
          if (team.pe() == 0) {
            const auto seen = wait_until(posted[0], mail, Cmp::Ge, wide(round));
            for (const int each : seen.span()) ASSERT_EQ(each, round);
          }
          team.barrier();
        }
      });
    }
  }
}

TEST(FieldOrder, additions_of_one_round_are_not_counted_in_another) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    run_world(3, seed, [](Team& team) {
      auto counter = make_counters(team, 1);
      const int next = (team.pe() + 1) % 3;
      for (int round = 1; round <= rounds(30, 5000); ++round) {
        for (int i = 0; i < 3; ++i) signal(counter[0], next, 1, Update::Add);
        wait_until(counter[0], Cmp::Ge, 3 * wide(round));
        ASSERT_EQ(counter[0].value(), 3 * wide(round));
        team.barrier();
      }
    });
  }
}

std::uint8_t byte_of(int round, std::size_t i) {
  return static_cast<std::uint8_t>(wide(round) * 7 + i * 13);
}

TEST(FieldOrder, every_byte_of_any_size_is_there_when_its_signal_is_seen) {
  const ScopedVariable late("TUTTI_DELAY", "21:30");  // between data and word, and around them
  for (const std::uint64_t seed : {0U, 1U}) {
    run_world(2, seed, [&](Team& team) {
      auto x = make_tensor<std::uint8_t>(team, {65536});
      auto words = make_signals(team, 2);
      int round = 0;
      for (const std::size_t size : {0U, 1U, 7U, 64U, 4097U, 65536U}) {
        std::vector<std::uint8_t> data(size);
        for (int i = 0; i < rounds(12, 4000); ++i) {
          ++round;
          const auto view = x.view({0}, {size});
          if (team.pe() == 0) {
            for (std::size_t k = 0; k < size; ++k) data[k] = byte_of(round, k);
            put_signal(data, view, words[0], 1, wide(round), Update::Set);
            wait_until(words[1], Cmp::Eq, wide(round));
            continue;
          }
          const auto seen = wait_until(words[0], view, Cmp::Eq, wide(round));
          for (std::size_t k = 0; k < size; ++k) {
            ASSERT_EQ(seen(k), byte_of(round, k)) << size << " bytes, byte " << k;
          }
          signal(words[1], 0, wide(round), Update::Set);
        }
      }
    });
  }
}

TEST(FieldSize, nothing_from_a_null_pointer_is_a_transfer_and_a_call_like_any_other) {
  for (int pes = 1; pes <= 4; ++pes) {
    for (const std::uint64_t seed : {0U, 1U}) {
      run_world(pes, seed, [](Team& team) {
        const std::span<const int> none;
        const int next = (team.pe() + 1) % team.size();
        auto empty = make_tensor<int>(team, {1, 0, 2});
        auto x = make_tensor<int>(team, {5});
        auto words = make_signals(team, 1);
        for (int round = 1; round <= 5; ++round) {
          put(none, empty, next);
          put(none, x.view({5}, {0}), next, Update::Add);
          get(empty, next, std::span<int>());
          clear(empty);
          put_signal(none, empty, words[0], next, wide(round), Update::Set);
          wait_until(words[0], Cmp::Ge, wide(round));
          team.barrier();
          put(std::vector<int>(5, round * 10 + team.pe()), x, next);
          team.barrier();
          const int before = (team.pe() + team.size() - 1) % team.size();
          for (const int each : x.local()) ASSERT_EQ(each, round * 10 + before);
          team.barrier();
        }
      });
    }
  }
}

TEST(FieldSize, a_team_of_one_does_everything_with_itself) {
  for (const std::uint64_t seed : {0U, 1U}) {
    run_world(1, seed, [](Team& team) {
      auto x = make_tensor<double>(team, {3, 4}, tile(1, 4), {.signals = TileSignals::One});
      auto words = make_signals(team, 2);
      auto counters = make_counters(team, 1);
      auto published = make_published(team, 1);
      auto atomics = make_atomics(team, 1);
      put(std::vector<double>(12, 2.5), x, 0);
      put(std::vector<double>(4, 0.5), x.view({1, 0}, {1, 4}), 0, Update::Add);
      signal(words[1], kAllPes, 9, Update::Set);
      EXPECT_EQ(wait_any(words, Cmp::Eq, 9), 1U);
      signal(counters[0], 0, 4, Update::Add);
      wait_until(counters[0], Cmp::Eq, 4);
      publish(published[0], 6);
      await(published[0], 0, 6);
      EXPECT_EQ(fetch_add(atomics[0], 0, 3), 0U);
      fence(team);
      quiet(team);
      team.barrier();
      Team same = team.split(3);
      Team again = same.subteam("alone", {0});
      again.barrier();
      std::vector<double> read(12);
      get(x, 0, read);
      EXPECT_EQ(read[3], 2.5);
      EXPECT_EQ(read[4], 3.0);
    });
  }
}

TEST(FieldSize, many_more_pes_than_cpus_meet_signal_and_split) {
  for (const int pes : {9, 17, 18, 33, full_tests() ? 130 : 65}) {
    run_world(pes, 0, [pes](Team& team) {
      auto words = make_signals(team, wide(pes));
      auto x = make_tensor<int>(team, {pes});
      for (int pe = 0; pe < pes; ++pe) {
        put_signal(std::array{team.pe() + 1}, x.view({team.pe()}, {1}), words[wide(team.pe())], pe,
                   1, Update::Set);
      }
      wait_all(words, Cmp::Ge, 1);
      for (int pe = 0; pe < pes; ++pe) ASSERT_EQ(x.local()[wide(pe)], pe + 1);
      int sum = team.pe();
      allreduce(team, &sum, &sum, 1, Op::Sum);
      EXPECT_EQ(sum, pes * (pes - 1) / 2);
      Team third = team.split(team.pe() % 3);
      int ones = 1;
      allreduce(third, &ones, &ones, 1, Op::Sum);
      EXPECT_EQ(ones, third.size());
      team.barrier();
    });
  }
}

TEST(FieldSize, ranks_of_a_split_follow_its_keys_not_the_order_of_its_parent) {
  for (const std::uint64_t seed : {0U, 1U}) {
    run_world(4, seed, [](Team& world) {
      Team team = world.split(0, -world.pe());
      ASSERT_EQ(team.pe(), 3 - world.pe());
      const std::array<int, 3> mine = {100 * team.pe(), 100 * team.pe() + 1, 100 * team.pe() + 2};
      std::vector<int> all(12);
      allgather(team, mine, all);
      for (int i = 0; i < 12; ++i) ASSERT_EQ(all[wide(i)], 100 * (i / 3) + i % 3);
      for (int root = 0; root < 4; ++root) {
        std::vector<int> data(7, team.pe() == root ? 1000 + root : -1);
        broadcast(team, data, root);
        for (const int each : data) ASSERT_EQ(each, 1000 + root);
      }
    });
  }
}

/// Stops and continues its parent again and again until the parent is gone or kills it.
[[noreturn]] void be_nurse(pid_t patient) {
  std::minstd_rand random(14);
  while (getppid() == patient) {
    kill(patient, SIGSTOP);
    usleep(2000 + random() % 8000);
    kill(patient, SIGCONT);
    usleep(1000 + random() % 4000);
  }
  _exit(0);
}

/// Calls on one CPU, shared with `pes` - 1 others, of whom one is stopped at random.
void call_on_one_cpu(int pe, int pes, const Allgather& allgather) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  std::vector<cpu_set_t> all(wide(pes));
  allgather(&one, sizeof one, all.data());
  sched_setaffinity(0, sizeof all[0], all.data());
  const pid_t patient = getpid();
  const pid_t nurse = pe == 1 ? fork() : -1;
  if (nurse == 0) be_nurse(patient);
  {
    Team team = from_bootstrap(pe, pes, allgather);
    for (int call = 0; call < rounds(600, 100'000); ++call) {
      int value = call + pe;
      allreduce(team, &value, &value, 1, Op::Sum);
      if (value != pes * call + pes * (pes - 1) / 2) {
        throw std::runtime_error("call " + std::to_string(call) + ": " + std::to_string(value));
      }
    }
  }
  if (nurse > 0) {
    kill(nurse, SIGKILL);
    waitpid(nurse, nullptr, 0);
  }
}

TEST(FieldOrder, calls_stay_exact_while_a_pe_is_stopped_at_any_moment_on_one_cpu) {
  for (const int pes : {2, 4}) {
    const auto endings = run_bare_processes(
        pes, [pes](int pe, const Allgather& allgather) { call_on_one_cpu(pe, pes, allgather); },
        full_tests() ? 200 : 20);
    for (const Ending& ending : endings) {
      EXPECT_EQ(ending.error, "");
      EXPECT_EQ(ending.status, 0);
    }
  }
}

}  // namespace
}  // namespace tutti::tests
