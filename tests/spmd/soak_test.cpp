// SPDX-License-Identifier: Apache-2.0
// Teams that overlap, nest, come and go, and buffers of any size: nothing grows. Short by default;
// TUTTI_TEST_FULL makes it long.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/environment.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

constexpr std::size_t kHeap = std::size_t{4} << 20;

int sum_of_ones(Team& team) {
  int one = 1;
  allreduce(team, &one, &one, 1, Op::Sum);
  return one;
}

/// What must not grow.
struct Footprint {
  std::size_t descriptors = open_descriptors();
  std::size_t mappings = shared_mappings();
  std::size_t pages = resident_pages();
};

/// The sanitizers' own memory grows with every access to a new place.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kPagesAreOurs = false;
#else
constexpr bool kPagesAreOurs = true;
#endif

void expect_no_growth(const Footprint& before, const Footprint& after) {
  constexpr std::size_t kSlack = 500;  // pages: what the allocator keeps of what was returned
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_EQ(after.mappings, before.mappings);
  if (kPagesAreOurs) {
    EXPECT_LE(after.pages, before.pages + kSlack);
  }
}

/// One round: a row of overlapping pairs, a team inside a team inside a team, one that is kept
/// while others come and go, all with words and tensors of their own.
void come_and_go(Team& world, std::vector<std::optional<Team>>& kept, std::size_t round) {
  kept[round % kept.size()].reset();
  const int low = world.pe() / 2 * 2;
  Team pair = world.subteam("pair " + std::to_string(low), {low, low + 1});
  Team inner = pair.split(pair.pe(), 0);
  Team innermost = inner.subteam("alone", {0});
  auto words = make_counters(pair, 3);
  auto x = make_tensor<int>(pair, {1 + round % 50, 7});
  signal(words[2], kAllPes, 1, Update::Add);
  wait_until(words[2], Cmp::Eq, 2);
  EXPECT_EQ(sum_of_ones(pair), 2);
  EXPECT_EQ(sum_of_ones(innermost), 1);
  if (world.pe() == 1 || world.pe() == 2) {
    Team middle = world.subteam("middle", {2, 1});
    EXPECT_EQ(sum_of_ones(middle), 2);
  }
  kept[round % kept.size()] = world.split(0, -world.pe());
  EXPECT_EQ(sum_of_ones(*kept[round % kept.size()]), 4);
}

TEST(Soak, teams_that_overlap_nest_come_and_go_leave_nothing) {
  Options options;
  options.heap_bytes = kHeap;
  run(
      4,
      [](Team& world) {
        std::vector<std::optional<Team>> kept(5);
        const auto many = [&](int count) {
          for (int i = 0; i < count; ++i) come_and_go(world, kept, static_cast<std::size_t>(i));
          world.barrier();
        };
        many(30);
        std::optional<Footprint> before;
        if (world.pe() == 0) before.emplace();
        world.barrier();  // the others open nothing meanwhile
        many(rounds(70, 10'000));
        if (world.pe() == 0) expect_no_growth(*before, Footprint());
        world.barrier();
      },
      options);
}

/// A size up to 2^17, small ones as often as large ones; the same on all PEs.
std::size_t any_size(std::mt19937& shared) {
  return shared() % ((std::size_t{1} << shared() % 18) + 1);
}

void use_size(Team& team, std::size_t size, int call) {
  auto x = make_tensor<std::uint8_t>(team, {size});
  const auto value = [&](int pe) { return static_cast<std::uint8_t>(call + pe * 50); };
  put(std::vector<std::uint8_t>(size, value(team.pe())), x, 1 - team.pe());
  team.barrier();
  const auto wrong = [&](const auto& data, std::uint8_t expected) {
    return std::ranges::find_if(data, [&](auto each) { return each != expected; }) != data.end();
  };
  ASSERT_FALSE(wrong(x.local(), value(1 - team.pe()))) << "call " << call << ", " << size;
  std::vector<std::uint8_t> data(size, value(team.pe()));
  allreduce(team, data, Op::Max);
  ASSERT_FALSE(wrong(data, std::max(value(0), value(1)))) << "call " << call << ", " << size;
}

TEST(Soak, ten_thousand_tensors_and_calls_of_random_sizes_are_exact_and_leave_nothing) {
  for (const std::uint64_t seed : {0U, 1U}) {
    const int calls = seed == 0 ? rounds(500, 10'000) : rounds(40, 1000);
    Options options;
    options.heap_bytes = std::size_t{16} << 20;
    options.loopback = seed != 0;
    run(
        2,
        [&](Team& team) {
          const auto many = [&] {
            std::mt19937 shared(4);
            for (int call = 0; call < calls; ++call) use_size(team, any_size(shared), call);
            team.barrier();
          };
          many();  // the high-water mark of these sizes
          std::optional<Footprint> before;
          if (team.pe() == 0) before.emplace();
          team.barrier();  // the others open nothing meanwhile
          many();
          if (team.pe() == 0) expect_no_growth(*before, Footprint());
          team.barrier();
        },
        options);
  }
}

TEST(Soak, worlds_that_come_and_go_leave_nothing) {
  const auto many = [](int count) {
    for (int i = 0; i < count; ++i) {
      run_world(3, static_cast<std::uint64_t>(i % 2), [](Team& team) {
        auto x = make_tensor<int>(team, {1000});
        EXPECT_EQ(sum_of_ones(team), 3);
      });
    }
  };
  many(10);
  const Footprint before;
  many(rounds(30, 500));
  expect_no_growth(before, Footprint());
}

}  // namespace
}  // namespace tutti::tests
