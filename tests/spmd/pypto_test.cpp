// SPDX-License-Identifier: Apache-2.0
#include "tutti/pypto.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "support/worlds.hpp"

namespace tutti::tests {
namespace {

using namespace std::chrono_literals;
using namespace tutti::pypto;

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(value); }
int next(const Team& team) { return (team.pe() + 1) % team.size(); }
int last(const Team& team) { return (team.pe() + team.size() - 1) % team.size(); }
int value_of(int pe, std::size_t i, int round = 0) {
  return (pe + 1) * 100000 + static_cast<int>(i) * 7 + round;
}
std::vector<int> values_of(int pe, std::size_t count, int round = 0) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(pe, i, round);
  return values;
}

/// Worlds of 2 to 4 PEs, each by load and store and over the loopback transport.
void in_worlds(const std::function<void(Team&)>& body) {
  for (int pes = 2; pes <= 4; ++pes) {
    for (std::uint64_t seed = 0; seed <= 2; ++seed) run_world(pes, seed, body);
  }
}

/// My words of `src` in namespace `src_pe` all have this value.
template <class S>
bool all_are(const S& src, int src_pe, std::uint64_t value) {
  return test(src.slots(src_pe), Cmp::Eq, value);
}

TEST(Pypto, the_usual_sequence_moves_a_tensor_and_announces_it) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<int>(team, {16, 8}, tile(4, 8));
    for (int round = 1; round <= 5; ++round) {
      shmem_clear_data(x);
      shmem_clear_signal(x);
      shmem_barrier_all(x);
      const Token put_out = shmem_put(values_of(team.pe(), 128, round), x, next(team), Update::Set);
      shmem_signal(x, team.pe(), 1, next(team), Update::Set, put_out);
      const Token wait_out = shmem_wait_until(x, last(team), Cmp::Eq, 1, ClearSignal::Yes);
      EXPECT_EQ(shmem_get(x, team.pe(), wait_out), values_of(last(team), 128, round));
      EXPECT_TRUE(all_are(x, last(team), 0));
      shmem_barrier_all(x);
    }
  });
}

TEST(Pypto, a_view_narrows_data_and_signals_and_its_valid_shape_the_data_alone) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<int>(team, {8, 12}, tile(4, 4));
    const auto view = shmem_view(x, {4, 8}, {4, 4}, {2, 3});
    shmem_put(values_of(team.pe(), 6), view, next(team), Update::Set);
    shmem_signal(view, 1, 7, next(team), Update::Set);
    shmem_wait_until(view, 1, Cmp::Eq, 7);
    for (std::size_t i = 0; i < 96; ++i) {
      const std::size_t row = i / 12, column = i % 12;
      const bool inside = row >= 4 && row < 6 && column >= 4 && column < 7;
      const int expected = inside ? value_of(last(team), (row - 4) * 3 + column - 4) : 0;
      ASSERT_EQ(x.local()[i], expected) << "element " << i;
    }
    EXPECT_TRUE(all_are(view, 1, 7));
    EXPECT_TRUE(all_are(shmem_view(x, {4, 12}, {0, 0}), 1, 0));
    EXPECT_TRUE(all_are(shmem_view(x, {4, 4}, {4, 0}), 1, 0));
    EXPECT_TRUE(all_are(x, 0, 0));
    shmem_barrier_all(x);
  });
}

TEST(Pypto, additions_meet_in_f32_and_are_read_back_rounded) {
  in_worlds([](Team& team) {
    auto sums = create_shmem_tensor<float>(team, {2, 3});
    auto counts = create_shmem_tensor<std::int32_t>(team, {4});
    const auto mine = static_cast<float>(team.pe() + 1);
    for (int pe = 0; pe < team.size(); ++pe) {
      shmem_put(std::vector<bf16>(6, to_bf16(mine)), sums, pe, Update::Add);
      shmem_put(std::vector<f16>(6, to_f16(0.25F)), sums, pe, Update::Add);
      shmem_put(std::vector<float>(6, 0.001F), sums, pe, Update::Add);
      shmem_put(std::vector<std::int32_t>(4, team.pe()), counts, pe, Update::Add);
    }
    shmem_barrier_all(sums);
    const auto pes = static_cast<float>(team.size());
    const std::vector<float> all = shmem_get(sums, next(team));
    for (const float sum : all) ASSERT_NEAR(sum, pes * (pes + 1) / 2 + pes * 0.251F, 1e-5F);
    const std::vector<bf16> rounded = shmem_get<bf16>(sums, next(team));
    const std::vector<f16> halves = shmem_get<f16>(shmem_view(sums, {1, 3}, {1, 0}), next(team));
    ASSERT_EQ(rounded.size(), 6u);
    ASSERT_EQ(halves.size(), 3u);
    for (const bf16 value : rounded) EXPECT_EQ(value, to_bf16(all[0]));
    for (const f16 value : halves) EXPECT_EQ(value, to_f16(all[0]));
    EXPECT_EQ(shmem_get(counts, 0)[3], team.size() * (team.size() - 1) / 2);
    shmem_barrier_all(sums);
  });
}

TEST(Pypto, load_gives_any_pes_view_as_an_operand_without_a_copy_where_it_is_reached) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<int>(team, {3, 4, 5});
    std::ranges::copy(values_of(team.pe(), 60), x.local().begin());
    shmem_barrier_all(x);
    for (int pe = 0; pe < team.size(); ++pe) {
      const auto operand = shmem_load(shmem_view(x, {2, 3, 4}, {1, 1, 1}, {2, 2, 3}), pe);
      EXPECT_EQ(operand.copied(), x.unsafe_peer(pe) == nullptr);
      ASSERT_EQ(operand.shape(), Extents(2, 2, 3));
      ASSERT_EQ(operand.rows(), 4u);
      for (std::size_t i = 0; i < operand.size(); ++i) {
        const std::size_t a = i / 6, b = i / 3 % 2, c = i % 3;
        const int expected = value_of(pe, (a + 1) * 20 + (b + 1) * 5 + c + 1);
        ASSERT_EQ(operand(a, b, c), expected);
        ASSERT_EQ(operand.row(i / 3)[c], expected);
      }
    }
    shmem_barrier_all(x);
  });
}

TEST(Pypto, store_computes_into_any_pes_view_and_nothing_else) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<int>(team, {3, 4, 5});
    auto done = create_shmem_signal(team);
    const auto view = shmem_view(x, {2, 2, 3}, {1, 1, 1});
    const Token first = shmem_put(std::vector<int>(12, -1), view, next(team), Update::Set);
    const Token stored = shmem_store(
        view, next(team),
        [&](std::size_t row, std::span<int> out) {
          for (std::size_t c = 0; c < out.size(); ++c) out[c] = value_of(team.pe(), row * 3 + c);
        },
        first);
    shmem_signal(done, team.pe(), 1, next(team), Update::Set, stored);
    shmem_wait_until(done, last(team), Cmp::Eq, 1);
    EXPECT_EQ(shmem_get(view, team.pe()), values_of(last(team), 12));
    EXPECT_EQ(std::ranges::count(x.local(), 0), 60 - 12);
    shmem_barrier_all(done);
  });
}

TEST(Pypto, operands_stores_and_signals_come_after_what_their_tokens_stand_for) {
  // PE 0 puts to PE 2. Whatever it then does at home with that token, at PE 2, or by telling PE 1
  // to look there, comes after. (Without a token a get may overtake a put.)
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    run_world(3, seed, [](Team& team) {
      auto x = create_shmem_tensor<int>(team, {50});
      auto told = create_shmem_signal(team);
      for (int round = 1; round <= 20; ++round) {
        if (team.pe() == 0) {
          const auto send = [&](int k) {
            return shmem_put(values_of(0, 50, 4 * round + k), x, 2, Update::Set);
          };
          const auto store = [&](std::size_t, std::span<int> out) { out[0] = round; };
          shmem_store(shmem_view(x, {1}, {0}), 0, store, send(0));
          EXPECT_EQ(shmem_get(x, 2), values_of(0, 50, 4 * round));
          EXPECT_EQ(shmem_load(x, 0, send(1))(0), round);
          EXPECT_EQ(shmem_get(x, 2), values_of(0, 50, 4 * round + 1));
          EXPECT_EQ(shmem_load(x, 2, send(2))(49), value_of(0, 49, 4 * round + 2));
          shmem_signal(told, 0, wide(round), 1, Update::Set, send(3));
        } else if (team.pe() == 1) {
          const Token seen = shmem_wait_until(told, 0, Cmp::Ge, wide(round));
          EXPECT_EQ(shmem_get(x, 2, seen), values_of(0, 50, 4 * round + 3));
        }
        shmem_barrier_all(told);
      }
    });
  }
}

TEST(Pypto, signals_set_or_add_to_one_pe_or_all_in_namespaces_of_their_own) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<int>(team, {4, 4}, tile(2, 2));
    auto words = create_shmem_signal(team);
    const int all = team.size();
    shmem_signal(x, team.pe(), 10 + wide(team.pe()), kAllPes, Update::Set);
    shmem_signal(words, 0, 3, kAllPes, Update::Add);
    shmem_signal(words, next(team), 5, next(team), Update::Add);
    for (int pe = 0; pe < all; ++pe) shmem_wait_until(x, pe, Cmp::Eq, 10 + wide(pe));
    shmem_wait_until(words, 0, Cmp::Eq, 3 * wide(all) + (team.pe() == 0 ? 5 : 0));
    if (team.pe() != 0) shmem_wait_until(words, team.pe(), Cmp::Eq, 5);
    shmem_barrier_all(words);
    for (int ns = 1; ns < all; ++ns) EXPECT_TRUE(all_are(words, ns, ns == team.pe() ? 5 : 0));
    shmem_barrier_all(words);
  });
}

struct Row {
  Cmp cmp;
  std::array<bool, 3> holds;           // for words of 4, 5, 6 compared with 5
  std::array<std::uint64_t, 3> after;  // what clear leaves
};
constexpr std::array<Row, 6> kRows = {{{Cmp::Eq, {false, true, false}, {4, 0, 6}},
                                       {Cmp::Ne, {true, false, true}, {0, 5, 0}},
                                       {Cmp::Gt, {false, false, true}, {4, 5, 0}},
                                       {Cmp::Ge, {false, true, true}, {4, 0, 1}},
                                       {Cmp::Lt, {true, false, false}, {0, 5, 6}},
                                       {Cmp::Le, {true, true, false}, {0, 0, 6}}}};

TEST(Pypto, waits_know_all_comparisons_and_clear_takes_off_what_was_waited_for) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<char>(team, {4}, tile(2));
    const int me = team.pe();
    for (const Row& row : kRows) {
      for (std::size_t i = 0; i < 3; ++i) {
        shmem_signal(x, me, 4 + i, me, Update::Set);
        ASSERT_EQ(test(x.slots(me), row.cmp, 5), row.holds[i]);
        if (row.holds[i]) {
          shmem_wait_until(x, me, row.cmp, 5);
          EXPECT_TRUE(all_are(x, me, 4 + i)) << "no clear was asked for";
          shmem_wait_until(x, me, row.cmp, 5, ClearSignal::Yes);
        }
        EXPECT_TRUE(all_are(x, me, row.after[i])) << "word of " << 4 + i;
      }
    }
  });
}

TEST(Pypto, counts_consumed_by_ge_and_clear_are_all_there) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<char>(team, {6}, tile(2));
    const int counts = rounds(300, 20000);
    if (team.pe() == 0) {
      for (int i = 0; i < counts * (team.size() - 1); ++i) {
        shmem_wait_until(x, 0, Cmp::Ge, 1, ClearSignal::Yes);
      }
    } else {
      for (int i = 0; i < counts; ++i) shmem_signal(x, 0, 1, 0, Update::Add);
    }
    shmem_barrier_all(x);
    EXPECT_TRUE(all_are(x, 0, 0));
  });
}

TEST(Pypto, an_overshot_eq_ends_in_a_timeout_not_in_a_hang) {
  Options options;
  options.timeout = 1s;
  run(
      2,
      [](Team& team) {
        auto words = create_shmem_signal(team);
        shmem_signal(words, 0, 1, next(team), Update::Add);
        shmem_signal(words, 0, 1, next(team), Update::Add);
        shmem_barrier_all(words);
        const Caught error = caught([&] { shmem_wait_until(words, 0, Cmp::Eq, 1); });
        EXPECT_EQ(error.code, ErrorCode::Timeout) << error.text;
        shmem_wait_until(words, 0, Cmp::Ge, 2);
        shmem_barrier_all(words);
      },
      options);
}

TEST(Pypto, clears_concern_the_own_instance_alone) {
  in_worlds([](Team& team) {
    auto x = create_shmem_tensor<int>(team, {2, 6}, tile(1, 3));
    std::ranges::fill(x.local(), 9);
    for (int ns = 0; ns < team.size(); ++ns) shmem_signal(x, ns, 8, team.pe(), Update::Set);
    shmem_barrier_all(x);
    if (team.pe() == 0) {
      shmem_clear_data(shmem_view(x, {2, 2}, {0, 1}));
      shmem_clear_signal(x);
    }
    shmem_barrier_all(x);
    for (int ns = 0; ns < team.size(); ++ns) EXPECT_TRUE(all_are(x, ns, team.pe() == 0 ? 0 : 8));
    EXPECT_EQ(shmem_get(x, 0), (std::vector{9, 0, 0, 9, 9, 9, 9, 0, 0, 9, 9, 9}));
    EXPECT_EQ(shmem_get(x, 1), std::vector<int>(12, 9));
    shmem_barrier_all(x);
  });
}

TEST(Pypto, groups_by_name_are_teams_of_any_number_that_may_overlap) {
  for (const std::uint64_t seed : {0, 1}) {
    run_world(4, seed, [](Team& world) {
      Groups groups;
      groups.add("world", world);
      groups.add("parity", world.split(world.pe() % 2));
      groups.add("half", world.split(world.pe() / 2));
      groups.add("again", groups.team("parity"));
      EXPECT_EQ(my_symbolic_pe(world), world.pe());
      EXPECT_EQ(my_symbolic_pe(groups, "parity"), world.pe() / 2);
      EXPECT_EQ(my_symbolic_pe(groups, "half"), world.pe() % 2);
      for (const auto& [name, peer] :
           {std::pair("parity", world.pe() ^ 2), std::pair("half", world.pe() ^ 1),
            std::pair("again", world.pe() ^ 2)}) {
        auto x = create_shmem_tensor<int>(groups, name, 2, {3});
        auto words = create_shmem_signal(groups, name, 2);
        const int other = 1 - my_symbolic_pe(groups, name);
        shmem_put(values_of(world.pe(), 3), x, other, Update::Set);
        shmem_signal(words, 0, 1, other, Update::Set);
        shmem_wait_until(words, 0, Cmp::Eq, 1);
        EXPECT_EQ(shmem_get(x, 1 - other), values_of(peer, 3)) << name;
        shmem_barrier_all(words);
      }
    });
  }
}

TEST(Pypto, names_and_sizes_of_groups_that_are_wrong_are_refused_here) {
  run_world(2, 0, [](Team& world) {
    Groups groups;
    groups.add("ep", world);
    groups.add("ep", world);
    expect_refused([&] { groups.add("", world); }, "name of a group is empty");
    Team copy = world.split(0);
    expect_refused([&] { groups.add("ep", copy); }, "group \"ep\" stands for team world, not for");
    expect_refused([&] { my_symbolic_pe(groups, "tp"); }, "no group \"tp\"; groups: \"ep\"");
    expect_refused([&] { create_shmem_tensor<int>(groups, "ep", 4, {3}); },
                   "group \"ep\" has 2 PEs, n_pes is 4");
    expect_refused([&] { create_shmem_signal(groups, "ep", 0); }, "n_pes is 0");
    world.barrier();
  });
}

TEST(Pypto, what_is_wrong_is_refused_here_before_anything_moves) {
  run_world(2, 0, [](Team& team) {
    auto x = create_shmem_tensor<int>(team, {5, 4}, tile(2, 4));
    auto words = create_shmem_signal(team);
    const std::vector<int> four(4, 1);
    const auto row = shmem_view(x, {1, 4}, {1, 0});
    expect_refused([&] { shmem_view(x, {2, 4}, {4, 0}); }, "offsets {4, 0}");
    expect_refused([&] { shmem_put(four, row, 2, Update::Set); }, "there is no PE 2");
    expect_refused([&] { shmem_put(four, x, 0, Update::Add); }, "4 elements here");
    expect_refused([&] { shmem_get(row, -1); }, "there is no PE -1");
    expect_refused([&] { shmem_load(row, 2); }, "there is no PE 2");
    expect_refused([&] { shmem_store(row, 2, [](std::size_t, std::span<int>) {}); }, "no PE 2");
    expect_refused([&] { shmem_signal(row, 0, 1, 0, Update::Set); },
                   "offsets {1, 0}, shape {1, 4} are not whole tiles of {2, 4}");
    expect_refused([&] { shmem_wait_until(row, 0, Cmp::Eq, 0); }, "not whole tiles");
    expect_refused([&] { shmem_signal(x, 2, 1, 0, Update::Set); },
                   "no src_pe 2; allowed are 0 to 1");
    expect_refused([&] { shmem_wait_until(words, -1, Cmp::Eq, 0); }, "no src_pe -1");
    expect_refused([&] { shmem_signal(words, 0, 1, 2, Update::Add); }, "there is no PE 2");
    expect_refused([&] { create_shmem_tensor<int>(team, {1, 1, 1, 1, 1}); }, "allowed are 1 to 4");
    shmem_signal(shmem_view(x, {1, 4}, {4, 0}), 0, 1, team.pe(), Update::Set);  // a cut-off tile
    for (const int value : x.local()) EXPECT_EQ(value, 0);
    team.barrier();
  });
}

}  // namespace
}  // namespace tutti::tests
