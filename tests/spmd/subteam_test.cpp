// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

int sum_of_ones(Team& team) {
  int one = 1;
  allreduce(team, &one, &one, 1, Op::Sum);
  return one;
}

TEST(Subteam, only_members_call_and_ranks_follow_the_list) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    run_world(5, seed, [](Team& team) {
      if (team.pe() != 1) {
        const std::vector<int> pes = {4, 0, 3, 2};
        Team part = team.subteam("tp", pes);
        EXPECT_EQ(part.size(), 4);
        EXPECT_EQ(pes[static_cast<std::size_t>(part.pe())], team.pe());
        EXPECT_EQ(part.name(), "world/tp");
        std::vector<int> all(4);
        const std::vector<int> mine = {team.pe()};
        allgather(part, mine, all);
        EXPECT_EQ(all, pes);
      }
      EXPECT_EQ(sum_of_ones(team), 5) << "the parent goes on";
    });
  }
}

TEST(Subteam, groups_that_overlap_are_made_at_the_same_time) {
  for (const std::uint64_t seed : {0U, 1U}) {
    run_world(4, seed, [](Team& team) {
      for (int round = 0; round < rounds(15, 200); ++round) {
        // A ring of pairs: each PE is in two of them, in an order without a cycle.
        std::optional<Team> left;
        std::optional<Team> right;
        const int before = (team.pe() + 3) % 4;
        const int after = (team.pe() + 1) % 4;
        const auto name = [](int first) { return "pair " + std::to_string(first); };
        const auto make_left = [&] { left = team.subteam(name(before), {before, team.pe()}); };
        const auto make_right = [&] { right = team.subteam(name(team.pe()), {team.pe(), after}); };
        if (team.pe() == 0) {  // pairs in the order of their names, for every PE
          make_right();
          make_left();
        } else {
          make_left();
          make_right();
        }
        EXPECT_EQ(left->pe(), 1);
        EXPECT_EQ(right->pe(), 0);
        if (team.pe() == 0) {
          EXPECT_EQ(sum_of_ones(*right), 2);
          EXPECT_EQ(sum_of_ones(*left), 2);
        } else {
          EXPECT_EQ(sum_of_ones(*left), 2);
          EXPECT_EQ(sum_of_ones(*right), 2);
        }
      }
      team.barrier();
    });
  }
}

TEST(Subteam, a_group_of_one_and_a_group_of_a_group_are_groups) {
  run_world(3, 0, [](Team& team) {
    Team alone = team.subteam("me", {team.pe()});
    EXPECT_EQ(sum_of_ones(alone), 1);
    if (team.pe() == 2) return;
    Team pair = team.subteam("pair", {1, 0});
    Team swapped = pair.subteam("swapped", {1, 0});
    EXPECT_EQ(swapped.pe(), team.pe());
    EXPECT_EQ(swapped.name(), "world/pair/swapped");
    EXPECT_EQ(sum_of_ones(swapped), 2);
  });
}

TEST(Subteam, the_same_group_may_come_and_go_without_growth) {
  Options options;
  options.heap_bytes = std::size_t{4} << 20;
  run(
      2,
      [](Team& team) {
        for (int i = 0; i < rounds(400, 20'000); ++i) {
          Team group = i % 2 == 0 ? team.subteam("again", {0, 1}) : team.split(0);
          if (i % 50 == 0) {
            EXPECT_EQ(sum_of_ones(group), 2);
          }
        }
      },
      options);
}

TEST(Subteam, lack_of_memory_is_agreed_and_both_teams_go_on) {
  Options options;
  options.heap_bytes = std::size_t{1} << 20;
  run(
      3,
      [](Team& team) {
        if (team.pe() < 2) {
          std::vector<Team> kept;
          Caught error;
          while (error.text.empty()) {
            error = caught([&] { kept.push_back(team.subteam("more", {0, 1})); });
          }
          EXPECT_EQ(error.code, ErrorCode::OutOfMemory);
          const std::size_t many = kept.size();
          kept.pop_back();
          kept.push_back(team.subteam("more", {0, 1}));
          EXPECT_EQ(kept.size(), many);
          EXPECT_EQ(sum_of_ones(kept.back()), 2);
        }
        EXPECT_EQ(sum_of_ones(team), 3);
      },
      options);
}

TEST(Subteam, names_and_lists_that_are_not_allowed_are_refused_here) {
  run_world(2, 0, [](Team& team) {
    expect_refused([&] { team.subteam("", {0, 1}); }, "0 characters; allowed are 1 to 127");
    expect_refused([&] { team.subteam(std::string(128, 'x'), {0, 1}); }, "128 characters");
    expect_refused([&] { team.subteam("tp", {0, 2, 1}); }, "has PE 2; allowed are 0 to 1");
    expect_refused([&] { team.subteam("tp", {0, 1, 0}); }, "PE 0 more than once");
    expect_refused([&] { team.subteam("tp", {1 - team.pe()}); }, "only its members call");
    EXPECT_EQ(sum_of_ones(team), 2);
  });
}

TEST(Subteam, lists_that_differ_end_at_the_deadline_and_name_the_group) {
  Options options;
  options.timeout = std::chrono::milliseconds(300);
  const auto error = caught([&] {
    run(
        2,
        [](Team& team) {
          const std::vector<int> mine =
              team.pe() == 0 ? std::vector<int>{0, 1} : std::vector<int>{1, 0};
          team.subteam("tp", mine);
        },
        options);
  });
  EXPECT_NE(error.text.find("subteam \"tp\""), std::string::npos) << error.text;
}

TEST(Subteam, three_hundred_teams_at_once_keep_their_sums_apart_in_little_memory) {
  Options options;
  options.heap_bytes = std::size_t{128} << 20;  // of each of two PEs: below 256 MiB in all
  run(
      2,
      [](Team& team) {
        std::vector<Team> teams;
        for (int g = 0; g < 300; ++g) teams.push_back(team.split(0));
        for (int g = 0; g < 300; ++g) {
          int value = g;
          allreduce(teams[static_cast<std::size_t>(g)], &value, &value, 1, Op::Sum);
          EXPECT_EQ(value, 2 * g);
        }
        std::vector<float> data(1000);
        for (int g = 299; g >= 0; --g) {
          std::ranges::fill(data, static_cast<float>(g));
          allreduce(teams[static_cast<std::size_t>(g)], data, Op::Sum);
          EXPECT_EQ(data[999], 2.0F * static_cast<float>(g));
        }
      },
      options);
}

}  // namespace
}  // namespace tutti::tests
