// SPDX-License-Identifier: Apache-2.0
#include "tutti/tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/signals.hpp"
#include "tutti/transfer.hpp"
#include "tutti/wait.hpp"

namespace tutti {
namespace {

struct Odd {
  char bytes[3];
};

static_assert(!std::is_copy_constructible_v<ShmemTensor<float>>);
static_assert(std::is_nothrow_move_constructible_v<ShmemTensor<float>>);
static_assert(Symmetric<Odd> && !Symmetric<std::vector<int>> && !Symmetric<const float>);

bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 64 == 0; }

TEST(Tensor, instances_are_zeroed_and_aligned_whatever_the_type) {
  in_all_worlds([](Team& team) {
    auto odd = make_tensor<Odd>(team, {1});
    auto doubles = make_tensor<double>(team, {3, 5}, tile(2, 5));
    auto five = make_tensor<std::uint16_t>(team, {2, 3, 1, 2, 3});
    EXPECT_TRUE(aligned(odd.local().data()) && aligned(doubles.local().data()) &&
                aligned(five.local().data()));
    EXPECT_EQ(five.size(), 36u);
    EXPECT_EQ(doubles.shape(), Extents(3, 5));
    EXPECT_EQ(doubles.tile(), Extents(2, 5));
    EXPECT_EQ(five.tile(), five.shape());
    EXPECT_TRUE(std::ranges::all_of(doubles.local(), [](double x) { return x == 0; }));
  });
}

TEST(Tensor, instances_are_aligned_to_pages_on_request) {
  in_all_worlds([](Team& team) {
    auto small = make_tensor<char>(team, {3});
    auto page = make_tensor<char>(team, {5000}, {}, {.alignment = 4096});
    auto half = make_tensor<double>(team, {7}, {}, {.alignment = 2048});
    const auto rest = [](const auto* at, std::size_t unit) {
      return reinterpret_cast<std::uintptr_t>(at) % unit;
    };
    EXPECT_EQ(rest(page.local().data(), 4096), 0U);
    EXPECT_EQ(rest(half.local().data(), 2048), 0U);
    const int next = (team.pe() + 1) % team.size();
    put(std::vector<char>(5000, 'x'), page, next);
    team.barrier();
    EXPECT_TRUE(std::ranges::all_of(page.local(), [](char c) { return c == 'x'; }));
    EXPECT_EQ(small.local()[2] + half.local()[6], 0) << "neighbours are untouched";
    team.barrier();
  });
}

TEST(Tensor, an_alignment_that_is_not_allowed_or_not_equal_is_refused_alike) {
  run_world(2, 0, [](Team& team) {
    expect_refused([&] { make_tensor<int>(team, {1}, {}, {.alignment = 48}); },
                   "aligned to 48 bytes; allowed are powers of two from 64 to 4096");
    expect_refused([&] { make_tensor<int>(team, {1}, {}, {.alignment = 8192}); }, "8192");
    const std::size_t mine = team.pe() == 0 ? 64 : 4096;
    expect_refused([&] { make_tensor<int>(team, {1}, {}, {.alignment = mine}); }, "PE 1 asks for");
    team.barrier();
  });
}

TEST(Tensor, memory_that_is_used_again_is_zeroed) {
  in_all_worlds([](Team& team) {
    for (int i = 0; i < 20; ++i) {
      auto x = make_tensor<int>(team, {100 + i});
      for (const int value : x.local()) ASSERT_EQ(value, 0);
      std::ranges::fill(x.local(), 7);
      team.barrier();
    }
  });
}

TEST(Tensor, unsafe_peer_leads_to_every_instance_that_is_reachable) {
  for (const std::uint64_t seed : {0, 1}) {
    run_world(3, seed, [&](Team& team) {
      auto x = make_tensor<int>(team, {4});
      x.local()[3] = 10 + team.pe();
      team.barrier();
      for (int pe = 0; pe < team.size(); ++pe) {
        const int* peer = x.unsafe_peer(pe);
        if (seed != 0 && pe != team.pe()) {
          EXPECT_EQ(peer, nullptr);
        } else {
          EXPECT_EQ(peer[3], 10 + pe);
        }
      }
      expect_refused([&] { x.unsafe_peer(3); }, "there is no PE 3; allowed are 0 to 2");
      expect_refused([&] { x.unsafe_peer(-1); }, "there is no PE -1; allowed are 0 to 2");
      team.barrier();
    });
  }
}

TEST(Tensor, empty_tensors_are_tensors) {
  in_all_worlds([](Team& team) {
    auto x = make_tensor<float>(team, {1, 0, 2}, tile(1, 3, 1));
    EXPECT_EQ(x.size(), 0u);
    const std::vector<float> nothing;
    put(nothing, x, team.size() - 1);
    put(x, x, 0);
    std::vector<float> nowhere;
    get(x.view({0, 0, 1}, {1, 0, 1}), 0, nowhere);
    clear(x);
    team.barrier();
    auto after = make_tensor<float>(team, {5});
    put(std::vector<float>{1, 2, 3, 4, 5}, after, team.pe());
    EXPECT_EQ(after.local()[4], 5);
  });
}

/// One PE asks for something else: all PEs get the same refusal, and the team goes on.
template <class Wish>
void expect_agreed_refusal(Team& team, Wish&& wish, std::string_view part) {
  const Caught error = caught(wish);
  EXPECT_EQ(error.code, ErrorCode::InvalidArgument) << error.text;
  EXPECT_NE(error.text.find(part), std::string::npos) << error.text << "\nlacks: " << part;
  team.barrier();
  EXPECT_EQ(make_tensor<int>(team, {2}).size(), 2u);
}

TEST(Tensor, pes_that_disagree_are_refused_alike_and_the_team_stays_usable) {
  for (int pes = 2; pes <= 5; ++pes) {
    run_world(pes, pes % 2, [](Team& team) {
      const bool odd_one = team.pe() == 1;
      expect_agreed_refusal(
          team,
          [&] {
            make_tensor<float>(team, {odd_one ? 20 : 10, 3});
          },
          "PE 1 asks for shape {20, 3} of elements of 4 bytes, but PE 0 asks for shape {10, 3}");
      expect_agreed_refusal(
          team,
          [&] {
            odd_one ? make_tensor<float>(team, {6}, tile(2))
                    : make_tensor<float>(team, {6}, tile(3));
          },
          "in tiles of {2}, but PE 0 asks for");
      expect_agreed_refusal(
          team,
          [&] {
            if (odd_one) {
              make_tensor<double>(team, {6});
            } else {
              make_tensor<float>(team, {6});
            }
          },
          "PE 1 asks for shape {6} of elements of 8 bytes, but PE 0");
      expect_agreed_refusal(
          team, [&] { make_signals(team, odd_one ? 3 : 2); },
          "PE 1 asks for 3 words, but PE 0 for 2");
    });
  }
}

TEST(Tensor, impossible_shapes_are_refused_alike_and_the_team_stays_usable) {
  run_world(2, 0, [](Team& team) {
    expect_agreed_refusal(
        team, [&] { make_tensor<float>(team, Extents()); }, "allowed are 1 to 5");
    expect_agreed_refusal(
        team,
        [&] {
          make_tensor<float>(team, {4, -1});
        },
        "{4, -1}");
    expect_agreed_refusal(
        team,
        [&] {
          make_tensor<float>(team, {std::size_t{1} << 40, std::size_t{1} << 40});
        },
        "at most");
    expect_agreed_refusal(
        team,
        [&] {
          make_tensor<float>(team, {4, 4}, tile(2, 0));
        },
        "in tiles of {2, 0}");
    expect_agreed_refusal(
        team,
        [&] {
          make_tensor<float>(team, {4, 4}, tile(2));
        },
        "as many dimensions");
  });
}

TEST(Tensor, lack_of_memory_is_agreed_and_says_what_to_do) {
  Options options;
  options.heap_bytes = 8 << 20;
  run(
      3,
      [](Team& team) {
        const Caught error = caught([&] { make_tensor<char>(team, {16 << 20}); });
        EXPECT_EQ(error.code, ErrorCode::OutOfMemory) << error.text;
        EXPECT_NE(error.text.find("TUTTI_HEAP"), std::string::npos) << error.text;
        EXPECT_EQ(make_tensor<char>(team, {1 << 20}).size(), std::size_t{1} << 20);
      },
      options);
}

TEST(Tensor, tensors_come_and_go_in_any_order_without_growth) {
  Options options;
  options.heap_bytes = 8 << 20;
  for (const bool loopback : {false, true}) {
    options.loopback = loopback;
    run(
        3,
        [](Team& team) {
          std::vector<std::optional<ShmemTensor<char>>> kept(3);
          for (int i = 0; i < 60; ++i) {
            kept[static_cast<std::size_t>((i + team.pe()) % 3)].reset();
            team.barrier();
            auto x = make_tensor<char>(team, {500 << 10});
            put(std::vector<char>(500 << 10, 'x'), x, (team.pe() + 1) % team.size());
            kept[static_cast<std::size_t>((i + team.pe()) % 3)] = std::move(x);
          }
        },
        options);
  }
}

TEST(Tensor, tensors_outlive_their_team_handle_and_views_a_move) {
  run_world(2, 0, [](Team& team) {
    std::optional<Team> pair = team.split(0);
    auto x = make_tensor<int>(*pair, {8});
    const View<int> view = x.view({2}, {3});
    pair.reset();
    auto y = std::move(x);
    put(std::vector<int>{1, 2, 3}, view, 1 - team.pe());
    y.team().barrier();
    EXPECT_EQ(y.local()[2], 1);
    EXPECT_EQ(y.local()[4], 3);
  });
}

TEST(Tensor, views_outside_the_tensor_are_refused_here) {
  run_world(2, 0, [](Team& team) {
    auto x = make_tensor<float>(team, {16, 64});
    expect_refused(
        [&] {
          x.view({12, 0}, {5, 64});
        },
        "offsets {12, 0}, shape {5, 64}, valid {5, 64} of a tensor of shape {16, 64}");
    expect_refused([&] { x.view({-1, 0}, {1, 64}); }, "offsets {-1, 0}");
    expect_refused([&] { x.view({0, 64}, {1, 1}); }, "offsets {0, 64}");
    expect_refused([&] { x.view({0}, {1}); }, "offsets {0}");
    expect_refused([&] { x.view({0, 0}, {4, 4}, {4, 5}); }, "valid {4, 5}");
    EXPECT_EQ(x.view({15, 63}, {1, 1}).size(), 1u);
    EXPECT_EQ(x.view({16, 64}, {0, 0}).size(), 0u);
    team.barrier();
  });
}

TEST(Tensor, a_wait_returns_the_view_for_reading_in_place) {
  run_world(1, 0, [](Team& team) {
    auto x = make_tensor<int>(team, {4, 8});
    auto ready = make_signals(team, 1);
    for (int i = 0; i < 32; ++i) x.local()[static_cast<std::size_t>(i)] = i;
    signal(ready[0], 0, 1, Update::Set);
    const auto block = wait_until(ready[0], x.view({1, 2}, {3, 4}, {2, 3}), Cmp::Ge, 1);
    EXPECT_EQ(block.shape(), Extents(2, 3));
    EXPECT_EQ(block(0, 0), 10);
    EXPECT_EQ(block(1, 2), 20);
    EXPECT_EQ(block.row(1).back(), 20);
    EXPECT_EQ(&block(0, 0), &x.local()[10]);
    EXPECT_FALSE(block.contiguous());
    expect_refused([&] { block.span(); }, "is not contiguous");
    expect_refused([&] { block.row(); }, "0 indices; 2 dimensions need 1");
    EXPECT_EQ(wait_until(ready[0], x, Cmp::Ge, 1).span().size(), 32u);
    EXPECT_TRUE(wait_until(ready[0], x.view({2, 1}, {1, 3}), Cmp::Ge, 1).contiguous());
    EXPECT_TRUE(wait_until(ready[0], x.view({1, 0}, {2, 8}), Cmp::Ge, 1).contiguous());
  });
}

}  // namespace
}  // namespace tutti
