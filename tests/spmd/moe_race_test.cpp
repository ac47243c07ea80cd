// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/moe_check.hpp"

namespace tutti::tests {
namespace {

// Random delays at the library's named points, where they are compiled in: also between the pull
// of one source and that of the next.
[[maybe_unused]] const int kDelays = setenv("TUTTI_DELAY", "18:120", 0);

constexpr int kPes = 4;
constexpr std::uint64_t kRounds = 300;

MoeShape shape_of_tests() { return {8, 2, 16, balanced_owners(8, kPes)}; }

std::vector<MoeBatch<float>> batches_of(std::uint64_t round, Router router) {
  std::vector<MoeBatch<float>> batches;
  for (int pe = 0; pe < kPes; ++pe) {
    const std::size_t tokens = 1 + mixed(round, static_cast<std::uint64_t>(pe)) % 8;
    batches.push_back(make_batch<float>(shape_of_tests(), round, pe, tokens, false, router));
  }
  return batches;
}

void late(int pe) {
  for (int i = 0; pe == 2 && i < 50; ++i) sched_yield();
}

/// Dispatch and combine without a barrier, PE 2 late in the middle of every round.
void race(bool loopback, bool output_rows) {
  Options world;
  world.loopback = loopback;
  run(
      kPes,
      [&](Team& team) {
        auto options = options_for(shape_of_tests(), 8, DType::F32);
        options.max_rows = 4 * 8 * 2;
        moe::Plan plan(team, options);
        for (std::uint64_t round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
          const auto batches =
              batches_of(round, round % 3 == 0 ? Router::Repeated : Router::Random);
          const MoeStyle style{.output_rows = output_rows,
                               .name = "round " + std::to_string(round)};
          late(team.pe());
          check_round(team, plan, shape_of_tests(), batches, style, [&] { late(team.pe()); });
        }
      },
      world);
}

TEST(MoeRace, rounds_without_a_barrier_through_output_rows) { race(false, true); }
TEST(MoeRace, rounds_without_a_barrier_with_foreign_rows) { race(false, false); }
TEST(MoeRace, rounds_without_a_barrier_over_messages) { race(true, true); }

TEST(MoeRace, dispatches_whose_handles_are_never_combined) {
  run(kPes, [&](Team& team) {
    auto options = options_for(shape_of_tests(), 8, DType::F32);
    moe::Plan plan(team, options);
    for (std::uint64_t round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
      const auto batches = batches_of(round, Router::Random);
      late(team.pe());
      const moe::Handle handle = dispatch(plan, batches[static_cast<std::size_t>(team.pe())], {});
      check_handle(shape_of_tests(), batches, team.pe(), plan, handle,
                   "round " + std::to_string(round));
    }
  });
}

}  // namespace
}  // namespace tutti::tests
