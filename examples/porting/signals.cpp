// SPDX-License-Identifier: Apache-2.0
// Signals: SET and ADD, to one PE and to all, waited for with any comparison (the seed's
// shmem_signal and shmem_wait_until). A word that is SET has one writer, one that is ADDed to many:
// two types, and mixing them does not compile.
#include <cstdint>
#include <cstdio>
#include <tutti/tutti.hpp>

#include "check.hpp"

namespace {

using tutti::Cmp;
using tutti::Update;

constexpr std::uint64_t kRounds = 5;

/// Words that grow and are awaited with Ge need neither clear nor barrier between rounds.
void growing_words(tutti::Team& world) {
  const auto pes = static_cast<std::uint64_t>(world.size());
  const auto me = static_cast<std::size_t>(world.pe());
  auto from_last = tutti::make_signals(world, 1);  // set by one PE
  auto from_each = tutti::make_signals(world, pes);
  auto arrivals = tutti::make_counters(world, 1);  // added to by many
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    tutti::signal(from_last[0], (world.pe() + 1) % world.size(), round, Update::Set);
    tutti::signal(from_each[me], tutti::kAllPes, round, Update::Set);
    tutti::signal(arrivals[0], tutti::kAllPes, 1, Update::Add);
    tutti::wait_until(from_last[0], Cmp::Ge, round);
    tutti::wait_all(from_each, Cmp::Ge, round);
    tutti::wait_until(arrivals[0], Cmp::Ge, round * pes);
  }
  world.barrier();
  expect_equal(from_last[0].value(), kRounds, "set by the PE before me");
  expect_equal(arrivals[0].value(), kRounds * pes, "added by all");
}

/// A counter at one PE that goes down and up again, and the other comparisons.
void comparisons(tutti::Team& world) {
  auto left = tutti::make_counters(world, 1);
  const auto pes = static_cast<std::uint64_t>(world.size());
  if (world.pe() == 0) tutti::signal(left[0], 0, pes, Update::Add);
  world.barrier();                                            // it begins at `pes`
  tutti::signal(left[0], 0, ~std::uint64_t{0}, Update::Add);  // unsigned: adds -1
  if (world.pe() != 0) return;
  tutti::wait_until(left[0], Cmp::Lt, pes);
  tutti::wait_until(left[0], Cmp::Le, pes - 1);
  tutti::wait_until(left[0], Cmp::Ne, pes);
  tutti::wait_until(left[0], Cmp::Eq, 0);
  tutti::signal(left[0], 0, 3, Update::Add);
  tutti::wait_until(left[0], Cmp::Gt, 2);
}

/// The seed's way: Eq, then clear. A round must not begin before everyone has cleared.
void equal_and_clear(tutti::Team& world) {
  auto arrivals = tutti::make_counters(world, 1);
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    tutti::signal(arrivals[0], tutti::kAllPes, 1, Update::Add);
    tutti::wait_until(arrivals[0], Cmp::Eq, static_cast<std::uint64_t>(world.size()));
    tutti::clear(arrivals[0]);
    world.barrier();
    expect_equal(arrivals[0].value(), std::uint64_t{0}, "after a clear");
    world.barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tutti::launch(argc, argv, [](tutti::Team& world) {
    growing_words(world);
    comparisons(world);
    equal_and_clear(world);
    world.barrier();
    if (world.pe() == 0) std::printf("signals: %d PEs, all values right\n", world.size());
  });
}
