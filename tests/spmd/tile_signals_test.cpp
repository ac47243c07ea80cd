// SPDX-License-Identifier: Apache-2.0
#include "tutti/tile_signals.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/worlds.hpp"

namespace tutti {
namespace {

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(value); }
int value_of(int pe, std::size_t tile, std::size_t i, int round) {
  return ((round * 8 + pe) * 100 + static_cast<int>(tile)) * 1000 + static_cast<int>(i);
}

/// The view of tile `index` of {10, 7} in tiles of {4, 3}: the last ones are cut off.
View<int> tile_of(const ShmemTensor<int>& x, std::size_t index) {
  const std::size_t row = index / 3 * 4, column = index % 3 * 3;
  return x.view({row, column},
                {std::min<std::size_t>(4, 10 - row), std::min<std::size_t>(3, 7 - column)});
}

TEST(TileSignals, a_consumer_sees_each_tile_as_its_signal_says) {
  in_all_worlds([](Team& team) {
    auto x = make_tensor<int>(team, {10, 7}, tile(4, 3), {.signals = signals::one});
    const int next = (team.pe() + 1) % team.size();
    const int last = (team.pe() + team.size() - 1) % team.size();
    for (int round = 1; round <= 5; ++round) {
      for (std::size_t t = 0; t < 9; ++t) {
        const View<int> view = tile_of(x, t);
        std::vector<int> values(view.size());
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = value_of(team.pe(), t, i, round);
        put_signal(values, view, next, wide(round), Update::Set);
      }
      for (std::size_t t = 0; t < 9; ++t) {
        const auto seen = wait_until(tile_of(x, t), Cmp::Ge, wide(round));
        for (std::size_t i = 0; i < seen.size(); ++i) {
          const std::size_t columns = seen.shape()[1];
          ASSERT_EQ(seen(i / columns, i % columns), value_of(last, t, i, round)) << "tile " << t;
        }
      }
      EXPECT_TRUE(test(x, Cmp::Eq, wide(round)));
      team.barrier();
    }
  });
}

TEST(TileSignals, a_put_of_many_tiles_announces_them_piece_by_piece) {
  for (const std::uint64_t seed : {0U, 1U}) {
    run_world(2, seed, [](Team& team) {
      constexpr std::size_t kRows = 70;  // of 16 KiB: more than one slab, the last one ragged
      constexpr std::size_t kColumns = 4096;
      auto x =
          make_tensor<int>(team, {kRows, kColumns}, tile(3, kColumns), {.signals = signals::one});
      const auto view = x.view({0, 0}, {kRows, kColumns}, {kRows - 2, kColumns - 1});
      for (int round = 1; round <= 3; ++round) {
        std::vector<int> values(view.size());
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = value_of(team.pe(), 0, i, round);
        put_signal(values, view, 1 - team.pe(), wide(round), Update::Set);
        for (std::size_t row = 0; row < kRows; row += 3) {
          const std::size_t rows = std::min<std::size_t>(3, kRows - row);
          wait_until(x.view({row, 0}, {rows, kColumns}), Cmp::Ge, wide(round));
          if (row >= kRows - 2) continue;
          const std::size_t first = row * (kColumns - 1);
          ASSERT_EQ(x.local()[row * kColumns], value_of(1 - team.pe(), 0, first, round));
          ASSERT_EQ(x.local()[row * kColumns + kColumns - 2],
                    value_of(1 - team.pe(), 0, first + kColumns - 2, round));
        }
        for (std::size_t row = 0; row < kRows; ++row) {
          ASSERT_EQ(x.local()[row * kColumns + kColumns - 1], 0) << "outside the valid part";
        }
        team.barrier();
      }
    });
  }
}

TEST(TileSignals, each_source_has_words_of_its_own) {
  in_all_worlds([](Team& team) {
    auto x = make_tensor<int>(team, {4, team.size()}, tile(2, 1), {.signals = signals::per_source});
    const auto mine = x.view({0, team.pe()}, {4, 1});
    for (int round = 1; round <= 5; ++round) {
      for (int pe = 0; pe < team.size(); ++pe) {
        put(std::vector<int>(4, 10 * round + team.pe()), mine, pe);
      }
      signal(mine, kAllPes, wide(round), Update::Set);
      for (int source = 0; source < team.size(); ++source) {
        const auto column = x.view({0, source}, {4, 1});
        const auto seen = wait_until(column, source, Cmp::Eq, wide(round));
        ASSERT_EQ(seen(3, 0), 10 * round + source);
        if (team.size() > 1) {
          EXPECT_FALSE(test(column, (source + 1) % team.size(), Cmp::Ge, 1));
        }
      }
      team.barrier();
    }
  });
}

TEST(TileSignals, additions_of_all_sources_count_up_one_word) {
  in_all_worlds([](Team& team) {
    auto x = make_tensor<int>(team, {8}, tile(2), {.signals = signals::one});
    signal(x.view({2}, {4}), kAllPes, 1, Update::Add);
    wait_until(x.view({2}, {4}), Cmp::Eq, wide(team.size()));
    team.barrier();
    EXPECT_TRUE(test(x.view({0}, {2}), Cmp::Eq, 0));
    EXPECT_TRUE(test(x.view({6}, {2}), Cmp::Eq, 0));
  });
}

TEST(TileSignals, what_is_wrong_is_refused_here) {
  run_world(2, 0, [](Team& team) {
    auto none = make_tensor<int>(team, {8}, tile(2));
    auto one = make_tensor<int>(team, {7}, tile(2), {.signals = signals::one});
    auto each = make_tensor<int>(team, {8}, tile(2), {.signals = signals::per_source});
    const std::vector<int> two(2, 9);
    expect_refused([&] { signal(none, 0, 1, Update::Set); }, "no tile signals");
    expect_refused([&] { put_signal(two, one.view({1}, {2}), 0, 1, Update::Set); },
                   "offsets {1}, shape {2} are not whole tiles of {2}");
    expect_refused([&] { wait_until(one.view({0}, {3}), Cmp::Eq, 0); }, "not whole tiles");
    expect_refused([&] { signal(one, 2, 1, Update::Set); }, "there is no PE 2");
    expect_refused([&] { put_signal(two, one.view({0}, {2}), kAllPes, 1, Update::Set); },
                   "there is no PE -1");
    expect_refused([&] { wait_until(one, 0, Cmp::Eq, 0); }, "not one per source");
    expect_refused([&] { wait_until(each, Cmp::Eq, 0); }, "say which source");
    expect_refused([&] { wait_until(each, 2, Cmp::Eq, 0); }, "there is no PE 2");
    EXPECT_TRUE(test(one.view({6}, {1}), Cmp::Eq, 0));  // the last tile is cut off
    for (const int value : one.local()) EXPECT_EQ(value, 0);
    team.barrier();
  });
}

}  // namespace
}  // namespace tutti
