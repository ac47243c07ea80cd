// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

TEST(Atomics, each_operation_answers_with_the_old_value) {
  in_all_worlds([](Team& team) {
    auto words = make_atomics(team, 3);
    const int next = (team.pe() + 1) % team.size();
    EXPECT_EQ(fetch_add(words[1], next, 5), 0U);
    EXPECT_EQ(fetch_add(words[1], next, 7), 5U);
    EXPECT_EQ(swap(words[1], next, 40), 12U);
    EXPECT_EQ(compare_exchange(words[1], next, 41, 1), 40U) << "41 is not there: nothing changes";
    EXPECT_EQ(compare_exchange(words[1], next, 40, 99), 40U);
    EXPECT_EQ(fetch(words[1], next), 99U);
    EXPECT_EQ(fetch(words[0], next) + fetch(words[2], next), 0U) << "neighbours are untouched";
    team.barrier();
    EXPECT_EQ(words[1].value(), 99U) << "the owner sees what its left neighbour did";
    team.barrier();
  });
}

TEST(Atomics, every_ticket_is_drawn_once) {
  in_all_worlds([](Team& team) {
    constexpr std::uint64_t kDraws = 60;
    auto counter = make_atomics(team, 1);
    std::vector<std::uint64_t> mine(kDraws);
    for (auto& ticket : mine) ticket = fetch_add(counter[0], 0, 1);
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    std::vector<std::uint64_t> all(kDraws * static_cast<std::size_t>(team.size()));
    allgather(team, mine, all);
    std::ranges::sort(all);
    for (std::uint64_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
  });
}

TEST(Atomics, a_lock_of_compare_and_exchange_loses_no_update) {
  in_all_worlds([](Team& team) {
    constexpr std::uint64_t kUpdates = 15;
    auto lock = make_atomics(team, 1);
    auto total = make_tensor<std::uint64_t>(team, {1});
    const auto me = static_cast<std::uint64_t>(team.pe()) + 1;
    for (std::uint64_t i = 0; i < kUpdates; ++i) {
      while (compare_exchange(lock[0], 0, 0, me) != 0) {
      }
      std::vector<std::uint64_t> value(1);
      get(total, 0, value);
      ++value[0];
      put(value, total, 0);
      quiet(team);  // the next holder may be anybody
      EXPECT_EQ(swap(lock[0], 0, 0), me);
    }
    team.barrier();
    if (team.pe() == 0) {
      EXPECT_EQ(total.local()[0], kUpdates * static_cast<std::uint64_t>(team.size()));
    }
    team.barrier();
  });
}

TEST(Atomics, the_owner_may_wait_on_a_word_and_read_what_it_announces) {
  in_all_worlds([](Team& team) {
    auto words = make_atomics(team, 1);
    auto data = make_tensor<int>(team, {100});
    const int next = (team.pe() + 1) % team.size();
    for (std::uint64_t round = 1; round <= 20; ++round) {
      const std::vector<int> values(100, static_cast<int>(round) * 10 + team.pe());
      put(values, data, next);
      fetch_add(words[0], next, 1);  // announces the put
      const int before = (team.pe() + team.size() - 1) % team.size();
      const auto seen = wait_until(words[0], data, Cmp::Ge, round);
      EXPECT_TRUE(std::ranges::all_of(
          seen.span(), [&](int value) { return value == static_cast<int>(round) * 10 + before; }));
      team.barrier();
    }
  });
}

TEST(Atomics, a_pe_that_the_team_does_not_have_is_refused) {
  run_world(2, 0, [](Team& team) {
    auto words = make_atomics(team, 1);
    expect_refused([&] { fetch_add(words[0], 2, 1); }, "fetch_add");
    expect_refused([&] { fetch(words[0], -1); }, "allowed are 0 to 1");
    expect_refused([&] { words[1]; }, "index 1 of 1 words");
    team.barrier();
  });
}

}  // namespace
}  // namespace tutti::tests
