// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

// What is special about collectives in which one PE gives or gets everything. That their results
// are right is the grid's business (collectives_test).

namespace tutti::tests {
namespace {

using Calls = std::function<void(Team& team, int call)>;

/// Everyone makes the same call again and again, with one root, and nothing in between: whoever
/// runs ahead fills its ring and waits until all have come.
void repeat_alone(const Calls& make) {
  for (const std::uint64_t seed : {0, 5}) {
    for (const int pes : {2, 3, 5}) {
      run_world(pes, seed, [&](Team& team) {
        for (int call = 0; call < 60; ++call) make(team, call);
      });
    }
  }
}

TEST(Rooted, a_root_that_fills_its_ring_does_not_wait_for_readers_that_wait_for_it) {
  for (const char* algorithm : {"flat:ring_bytes=16K", "binomial:ring_bytes=16K"}) {
    repeat_alone([&](Team& team, int call) {
      std::vector<int> data(1000, team.pe() == 1 ? call : -1);
      broadcast(team, data, 1, {.algorithm = algorithm});
      ASSERT_EQ(data, std::vector<int>(1000, call)) << algorithm;
    });
  }
}

TEST(Rooted, a_root_of_scatter_that_fills_its_ring_is_not_waited_for_either) {
  repeat_alone([](Team& team, int call) {
    const auto pes = static_cast<std::size_t>(team.size());
    std::vector<int> all(team.pe() == 1 ? pes * 300 : 0);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = call + static_cast<int>(i / 300);
    std::vector<int> mine(300);
    scatter(team, all, mine, 1, {.algorithm = "direct:ring_bytes=16K"});
    ASSERT_EQ(mine, std::vector<int>(300, call + team.pe()));
  });
}

TEST(Rooted, senders_that_fill_their_rings_wait_for_the_root_and_no_longer) {
  for (const char* algorithm : {"direct:ring_bytes=16K", "binomial:ring_bytes=16K"}) {
    repeat_alone([&](Team& team, int call) {
      const std::vector<int> mine(1000, call + team.pe());
      std::vector<int> sum(team.pe() == 1 ? 1000 : 0);
      reduce(team, mine, sum, Op::Sum, 1, {.algorithm = algorithm});
      const int expected = call * team.size() + team.size() * (team.size() - 1) / 2;
      if (team.pe() == 1) {
        ASSERT_EQ(sum, std::vector<int>(1000, expected)) << algorithm;
      }
    });
  }
}

TEST(Rooted, only_the_root_needs_the_large_buffer) {
  in_all_worlds([](Team& team) {
    const auto pes = static_cast<std::size_t>(team.size());
    const int root = team.size() - 1;
    const bool is_root = team.pe() == root;
    const std::vector<int> mine(7, team.pe());
    std::vector<int> all(is_root ? 7 * pes : 0);
    gather(team, mine, all, root);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int>(i / 7));
    std::vector<int> back(7);
    scatter(team, all, back, root);
    EXPECT_EQ(back, mine);
    reduce<int>(team, mine.data(), is_root ? back.data() : nullptr, 7, Op::Max, root);
    if (is_root) {
      EXPECT_EQ(back, std::vector<int>(7, root));
    }
  });
}

TEST(Rooted, every_way_to_call_gives_the_same) {
  run(3, [](Team& team) {
    auto in = make_tensor<int>(team, {9});
    auto out = make_tensor<int>(team, {9});
    auto block = make_tensor<int>(team, {3});
    for (std::size_t i = 0; i < 9; ++i) in.local()[i] = team.pe() * 100 + static_cast<int>(i);
    const std::vector<int> given(in.local().begin(), in.local().end());

    alltoall(team, in, out);
    std::vector<int> expected;
    for (const int pe : {0, 100, 200}) {
      for (int i = 0; i < 3; ++i) expected.push_back(pe + team.pe() * 3 + i);
    }
    EXPECT_EQ(std::vector<int>(out.local().begin(), out.local().end()), expected);
    std::vector<int> in_out = given;
    alltoall(team, in_out);
    EXPECT_EQ(in_out, expected);
    alltoall(team, given.data(), in_out.data(), 3);
    EXPECT_EQ(in_out, expected);

    scatter(team, in, block, 2);
    EXPECT_EQ(block.local()[1], 200 + team.pe() * 3 + 1);
    gather(team, block, out, 0);
    if (team.pe() == 0) {
      EXPECT_EQ(out.local()[8], 208);
    }
    reduce(team, in, out, Op::Max, 1);
    if (team.pe() == 1) {
      EXPECT_EQ(out.local()[8], 208);
    }
    in_out = given;
    reduce(team, in_out, Op::Sum, 0);
    if (team.pe() == 0) {
      EXPECT_EQ(in_out[1], 303);
    }
    if (team.pe() != 0) {
      EXPECT_EQ(in_out, given);
    }
  });
}

TEST(Rooted, what_does_not_fit_is_refused_by_name_and_the_team_stays_usable) {
  run(2, [](Team& team) {
    std::vector<int> seven(7);
    std::vector<int> eight(8);
    expect_refused([&] { reduce(team, seven, eight, Op::Sum, 9); }, "root 9; allowed are 0 to 1");
    expect_refused([&] { scatter(team, eight, seven, -1); }, "root -1; allowed are 0 to 1");
    expect_refused([&] { alltoall(team, seven); }, "must be a multiple");
    expect_refused([&] { alltoall(team, seven, eight); }, "in has 7 elements and out has 8");
    const std::span<int> all(eight);
    expect_refused([&] { alltoall(team, all.first(6), all.subspan(2)); }, "overlaps");
    allreduce(team, seven, Op::Sum);
  });
}

TEST(Rooted, pes_that_name_different_roots_are_told) {
  run(2, [](Team& team) {
    std::vector<int> data(4, team.pe());
    const Caught error = caught([&] {
      for (int call = 0; call < 20; ++call) reduce(team, data, Op::Sum, team.pe());
    });
    EXPECT_EQ(error.code, ErrorCode::Mismatch) << error.text;
  });
}

}  // namespace
}  // namespace tutti::tests
