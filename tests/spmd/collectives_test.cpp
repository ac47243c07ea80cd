// SPDX-License-Identifier: Apache-2.0
#include "tutti/collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/collective_grid.hpp"
#include "support/worlds.hpp"
#include "tutti/team.hpp"
#include "tutti/tuning.hpp"

namespace tutti::tests {
namespace {

std::vector<const Algorithm*> all_algorithms() {
  std::vector<const Algorithm*> all;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Algorithm* algorithm : algorithms(static_cast<Collective>(c))) {
      all.push_back(algorithm);
    }
  }
  return all;
}

/// Sanitizers slow the grid down five times; they see the same lines run with fewer PEs.
bool is_sampled_out(int pes) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return !full_tests() && pes != 2 && pes != 3 && pes != 5;
#else
  static_cast<void>(pes);
  return false;
#endif
}

using GridCase = std::tuple<const Algorithm*, int>;

std::string name_of_case(const ::testing::TestParamInfo<GridCase>& info) {
  const Algorithm* algorithm = std::get<0>(info.param);
  return std::string(name_of(algorithm->collective)) + "_" + algorithm->name + "_pes" +
         std::to_string(std::get<1>(info.param));
}

class CollectiveGrid : public ::testing::TestWithParam<GridCase> {
 protected:
  void run_cells(const Options& options) {
    const auto& [algorithm, pes] = GetParam();
    if (is_sampled_out(pes)) GTEST_SKIP() << "sanitizers look at other numbers of PEs";
    std::size_t ran = 0;
    run(
        pes,
        [&, algorithm = algorithm](Team& team) {
          const std::size_t mine = check_algorithm(team, *algorithm, !options.loopback);
          if (team.pe() == 0) ran = mine;
        },
        options);
    if (ran == 0) GTEST_SKIP() << algorithm->name << " supports none of its cells here";
  }
};

TEST_P(CollectiveGrid, is_exact_by_load_and_store) { run_cells({}); }

TEST_P(CollectiveGrid, is_exact_when_every_peer_is_unreachable) {
  run_cells({.loopback = true, .loopback_seed = 7});
}

INSTANTIATE_TEST_SUITE_P(Registry, CollectiveGrid,
                         ::testing::Combine(::testing::ValuesIn(all_algorithms()),
                                            ::testing::Values(1, 2, 3, 4, 5, 7, 8)),
                         name_of_case);

TEST(Collectives, every_problem_has_an_algorithm) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Contract contract : {Contract::Consistent, Contract::Ordered}) {
      for (const bool reachable : {true, false}) {
        for (const Memory memory : {Memory::Private, Memory::Symmetric}) {
          for (const int pes : {1, 2, 3, 64}) {
            for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 32}) {
              Problem problem;
              problem.collective = static_cast<Collective>(c);
              problem.contract = contract;
              problem.memory = memory;
              problem.reachable = reachable;
              problem.pes = pes;
              problem.count = count;
              EXPECT_NE(explain(problem).algorithm, nullptr);
            }
          }
        }
      }
    }
  }
}

// One team, ever-changing operations and sizes, no barrier in between, PEs late at random.
TEST(Collectives, mixed_calls_back_to_back_stay_exact) {
  for (const int pes : {2, 3, 4}) {
    run(pes, [](Team& team) {
      const auto p = static_cast<std::size_t>(team.size());
      std::vector<int> in;
      std::vector<int> out;
      for (std::size_t call = 0; call < 1500; ++call) {
        const std::size_t count = std::vector<std::size_t>{4, 64, 3000, 1, 70000}[call * 7 % 5];
        const auto value = [&](int pe, std::size_t i) {
          return static_cast<int>(call * 5 + i) % 1000 + pe;
        };
        in.assign(count * p, 0);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(team.pe(), i);
        const int sum_of_pes = team.size() * (team.size() - 1) / 2;
        switch (call % 4) {
          case 0:
            out.assign(count, -1);
            allreduce(team, std::span(in).first(count), out, Op::Sum);
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_EQ(out[i], team.size() * value(0, i) + sum_of_pes) << call << " " << i;
            }
            break;
          case 1:
            out.assign(count * p, -1);
            allgather(team, std::span(in).first(count), out);
            for (std::size_t i = 0; i < count * p; ++i) {
              ASSERT_EQ(out[i], value(static_cast<int>(i / count), i % count)) << call << " " << i;
            }
            break;
          case 2: {
            out.assign(count, -1);
            reduce_scatter(team, in, out, Op::Max);
            const std::size_t block = static_cast<std::size_t>(team.pe()) * count;
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_EQ(out[i], value(team.size() - 1, block + i)) << call << " " << i;
            }
            break;
          }
          default: {
            const int root = static_cast<int>(call) % team.size();
            broadcast(team, std::span(in).first(count), root);
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_EQ(in[i], value(root, i)) << call << " " << i;
            }
          }
        }
      }
    });
  }
}

/// The root runs ahead of its readers until its ring is full; they are late now and then.
TEST(Collectives, a_row_of_broadcasts_that_fills_the_ring_does_not_stop) {
  Options options;
  options.timeout = std::chrono::seconds(20);
  for (const char* algorithm : {"flat:ring_bytes=16K", "binomial:ring_bytes=16K"}) {
    for (const int pes : {2, 3, 5}) {
      run(
          pes,
          [&](Team& team) {
            std::vector<int> data(1024);
            for (int call = 0; call < 200; ++call) {
              const bool late = team.pe() != 0 && call % 16 == 3;
              if (late) std::this_thread::sleep_for(std::chrono::microseconds(300));
              std::ranges::fill(data, team.pe() == 0 ? call : -1);
              broadcast(team, data, 0, {.algorithm = algorithm});
              for (const int value : data) ASSERT_EQ(value, call) << algorithm << pes;
            }
          },
          options);
    }
  }
}

TEST(Collectives, a_source_may_be_overwritten_on_return) {
  run(4, [](Team& team) {
    std::vector<int> mine(4096);
    std::vector<int> all(4096 * 4);
    for (int call = 0; call < 300; ++call) {
      std::ranges::fill(mine, call * 4 + team.pe());
      allgather(team, mine, all);
      std::ranges::fill(mine, -1);
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i], call * 4 + static_cast<int>(i / 4096));
      }
    }
  });
}

TEST(Collectives, two_teams_of_one_job_do_not_mix) {
  run(4, [](Team& world) {
    Team half = world.split(world.pe() % 2, -world.pe());
    EXPECT_EQ(half.size(), 2);
    EXPECT_EQ(half.pe(), world.pe() < 2 ? 1 : 0);
    for (int call = 0; call < 1000; ++call) {
      std::vector<int> value(5, world.pe() + call);
      allreduce(half, value, Op::Sum);
      ASSERT_EQ(value[4], (world.pe() % 2 == 0 ? 2 : 4) + 2 * call);
      if (call % 10 != 0) continue;
      std::vector<int> whole(1, 1);
      allreduce(world, whole, Op::Sum);
      ASSERT_EQ(whole[0], 4);
    }
  });
}

TEST(Collectives, three_hundred_teams_live_at_once) {
  run(2, [](Team& world) {
    std::vector<Team> teams;
    for (int i = 0; i < 300; ++i) teams.push_back(world.split(0));
    for (int i = 0; i < 300; ++i) {
      std::vector<int> value(1, i);
      allreduce(teams[static_cast<std::size_t>(i)], value, Op::Sum);
      ASSERT_EQ(value[0], 2 * i);
    }
  });
}

// 4.3 GB of memory: only in the full grid. The arithmetic alone is in schedule_test.
TEST(Collectives, more_than_two_gigabytes_are_exact) {
  if (std::getenv("TUTTI_TEST_FULL") == nullptr) GTEST_SKIP() << "needs TUTTI_TEST_FULL";
  run(2, [](Team& team) {
    const std::size_t count = (std::size_t{1} << 31) + 64;
    std::vector<std::uint8_t> data(count, static_cast<std::uint8_t>(team.pe() + 1));
    data[count - 1] = 7;
    allreduce(team, data, Op::Sum);
    for (const std::size_t i : {std::size_t{0}, count / 2, std::size_t{1} << 31, count - 2}) {
      EXPECT_EQ(data[i], 3) << i;
    }
    EXPECT_EQ(data[count - 1], 14);
  });
}

TEST(Collectives, one_hundred_megabytes_pass_through_a_small_ring) {
  run(2, [](Team& team) {
    const std::size_t count = 100'000'003;
    std::vector<std::uint8_t> data(count, static_cast<std::uint8_t>(team.pe() + 1));
    data[count - 1] = 7;
    allreduce(team, data, Op::Sum, {.algorithm = "one_shot:ring_bytes=64K,chunk_bytes=16K"});
    EXPECT_EQ(data[0], 3);
    EXPECT_EQ(data[count / 2], 3);
    EXPECT_EQ(data[count - 1], 14);
  });
}

}  // namespace
}  // namespace tutti::tests
