// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "support/moe_check.hpp"

namespace tutti::tests {
namespace {

using ::testing::ElementsAre;

/// Rounds of f32 batches whose tokens a PE differ from round to round.
void run_rounds(const MoeShape& shape, const std::vector<std::vector<std::size_t>>& tokens,
                Router router, const Options& world = {}) {
  const auto pes = static_cast<int>(tokens[0].size());
  std::vector<std::vector<MoeBatch<float>>> rounds;
  for (std::size_t round = 0; round < tokens.size(); ++round) {
    std::vector<MoeBatch<float>> batches;
    batches.reserve(static_cast<std::size_t>(pes));
    for (int pe = 0; pe < pes; ++pe) {
      batches.push_back(make_batch<float>(shape, router == Router::OneExpert ? 0 : round + 1, pe,
                                          tokens[round][static_cast<std::size_t>(pe)], false,
                                          router));
    }
    rounds.push_back(std::move(batches));
  }
  run(
      pes,
      [&](Team& team) {
        auto options = options_for(shape, 32, DType::F32);
        options.max_rows =
            static_cast<std::size_t>(pes) * 32 * static_cast<std::size_t>(shape.topk);
        moe::Plan plan(team, options);
        for (std::size_t round = 0; round < rounds.size(); ++round) {
          check_round(team, plan, shape, rounds[round], {.name = "round " + std::to_string(round)});
        }
      },
      world);
}

TEST(MoeCases, pes_without_tokens_take_part) {
  const MoeShape shape{8, 2, 8, balanced_owners(8, 4)};
  const std::vector<std::vector<std::size_t>> tokens = {
      {32, 0, 16, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 32}, {32, 0, 16, 0}};
  for (const bool loopback : {false, true}) {
    Options world;
    world.loopback = loopback;
    run_rounds(shape, tokens, Router::Random, world);
    run_rounds(shape, tokens, Router::OneExpert, world);
  }
}

TEST(MoeCases, exactly_one_token_in_total) {
  for (const int pes : {1, 4}) {
    std::vector<std::size_t> tokens(static_cast<std::size_t>(pes), 0);
    tokens.back() = 1;
    run_rounds({8, 2, 8, balanced_owners(8, pes)}, {tokens, tokens}, Router::Random);
  }
}

TEST(MoeCases, uneven_batches_of_a_fixed_seed) {
  const MoeShape shape{8, 2, 16, balanced_owners(8, 4)};
  run_rounds(shape, {{16, 1, 0, 7}, {16, 1, 0, 7}}, Router::Repeated);
}

TEST(MoeCases, one_token_each_with_more_pes_than_experts) {
  for (const int pes : {9, 17, 33}) {
    const std::vector<std::size_t> tokens(static_cast<std::size_t>(pes), 1);
    run_rounds({5, 3, 8, balanced_owners(5, pes)}, {tokens}, Router::Random);
  }
}

TEST(MoeCases, padding_rounds_each_expert_up) {
  std::vector<int> ids(1, 1);  // four experts with 0, 1, 8 and 9 rows
  ids.insert(ids.end(), 8, 2);
  ids.insert(ids.end(), 9, 3);
  const std::vector<float> x(ids.size() * 3, 2);
  const std::vector<float> weights(ids.size(), 1);
  run(1, [&](Team& team) {
    moe::PlanOptions options = options_for({4, 1, 3, {0, 0, 0, 0}}, 18, DType::F32);
    options.padding = 8;
    moe::Plan plan(team, options);
    const moe::Handle handle = plan.dispatch({x.data(), 18}, ids, weights);
    EXPECT_THAT(handle.counts(), ElementsAre(0, 1, 8, 9));
    EXPECT_THAT(handle.offsets(), ElementsAre(0, 0, 8, 16, 32)) << "slots 0, 8, 8, 16";
    EXPECT_EQ(handle.total(), 32u);
  });
}

TEST(MoeCases, duplicates_add_and_none_is_ignored) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::int64_t> ids = {3, 3, 2, 3, 0, -1, -1, -1};
  const std::vector<float> weights = {.25f, .75f, .5f, .5f, 1, nan, nan, nan};
  const std::vector<float> x = {1, 10, 100, 1000};
  // All tokens on PE 0, then all on PE 1.
  for (const int home : {0, 1}) {
    run(2, [&](Team& team) {
      moe::Plan plan(team, options_for({4, 2, 1, {0, 0, 1, 1}}, 4, DType::F32));
      const bool mine = team.pe() == home;
      const moe::Handle handle =
          mine ? plan.dispatch({x.data(), 4}, ids, weights)
               : plan.dispatch({x.data(), 0}, std::vector<std::int64_t>(), {});
      if (team.pe() == 0) {
        EXPECT_THAT(handle.counts(), ElementsAre(1, 0));
        EXPECT_THAT(handle.rows<float>(), ElementsAre(100));
      } else {
        EXPECT_THAT(handle.counts(), ElementsAre(1, 3));
        EXPECT_THAT(handle.rows<float>(), ElementsAre(10, 1, 1, 10));
      }
      std::vector<float> out(mine ? 4 : 0, -1);
      const std::vector<float> y = [&] {
        std::vector<float> made(handle.rows<float>().begin(), handle.rows<float>().end());
        for (std::size_t row = 0; row < made.size(); ++row) {
          const bool first = row < static_cast<std::size_t>(handle.counts()[0]);
          made[row] *= static_cast<float>(plan.local_experts()[first ? 0 : 1] + 1);
        }
        return made;
      }();
      plan.combine({y.data(), y.size()}, handle, {out.data(), out.size()});
      if (mine) {
        EXPECT_THAT(out, ElementsAre(4, 35, 100, 0));
      }
    });
  }
}

TEST(MoeCases, ids_and_weights_of_inactive_tokens_are_not_looked_at) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::int32_t> ids = {0, 999, 1};
  const std::vector<float> weights = {1, nan, 1};
  const std::array<bool, 3> mask = {true, false, true};
  const std::vector<float> x = {1, 2, 3};
  run(2, [&](Team& team) {
    moe::Plan plan(team, options_for({2, 1, 1, {0, 1}}, 3, DType::F32));
    const moe::Handle handle = plan.dispatch({x.data(), 3}, ids, weights, mask);
    std::ranges::copy(handle.rows<float>(), handle.output_rows<float>().begin());
    std::vector<float> out(3, -1);
    plan.combine(handle, {out.data(), 3});
    EXPECT_THAT(out, ElementsAre(1, 0, 3));
  });
}

TEST(MoeCases, a_sum_of_products_is_rounded_once_and_starts_at_plus_zero) {
  // The step of bf16 at 1 is 2^-7; each addition of 0.375 steps alone would round back to 1.
  const std::vector<std::int32_t> ids = {0, 0, 0, 0, -1, -1};
  const std::vector<float> weights = {1, 0x1.8p-9f, 0x1.8p-9f, 1, 0, 0};
  const std::vector<bf16> x = {to_bf16(1), to_bf16(-0.0f)};
  run(1, [&](Team& team) {
    auto options = options_for({1, 3, 1, {0}}, 2, DType::BF16);
    options.max_rows = 6;
    moe::Plan plan(team, options);
    const moe::Handle handle = plan.dispatch({x.data(), 2}, ids, weights);
    std::vector<bf16> out(2);
    const auto rows = handle.rows<bf16>();
    plan.combine({rows.data(), handle.total()}, handle, {out.data(), 2});
    EXPECT_EQ(to_float(out[0]), 1 + 0x1p-7f);
    EXPECT_EQ(out[1].bits, 0) << "+0 + 1 * -0 is +0";
  });
}

TEST(MoeCases, two_plans_overlap_on_one_team) {
  const MoeShape shape{6, 2, 33, balanced_owners(6, 3)};
  std::vector<MoeBatch<float>> even;
  std::vector<MoeBatch<float>> odd;
  for (int pe = 0; pe < 3; ++pe) {
    even.push_back(make_batch<float>(shape, 1, pe, 5, false));
    odd.push_back(make_batch<float>(shape, 2, pe, 7, true));
  }
  run(3, [&](Team& team) {
    const auto me = static_cast<std::size_t>(team.pe());
    moe::Plan first(team, options_for(shape, 8, DType::F32));
    moe::Plan second(team, options_for(shape, 8, DType::F32));
    for (int round = 0; round < 20; ++round) {
      const moe::Handle a = dispatch(first, even[me], {});
      const moe::Handle b = dispatch(second, odd[me], {});
      combine(first, shape, even[me], team.pe(), a, {.name = "first"});
      check_handle(shape, odd, team.pe(), second, b, "second");
      combine(second, shape, odd[me], team.pe(), b, {.output_rows = false, .name = "second"});
    }
  });
}

TEST(MoeCases, seed_functions_give_the_seeds_order) {
  const MoeShape shape{8, 3, 16, balanced_owners(8, 2)};
  std::vector<MoeBatch<bf16>> batches;
  batches.reserve(2);
  for (int pe = 0; pe < 2; ++pe) batches.push_back(make_batch<bf16>(shape, 3, pe, 6, true));
  run(2, [&](Team& team) {
    const auto& mine = batches[static_cast<std::size_t>(team.pe())];
    auto options = options_for(shape, 6, DType::BF16);
    options.inactive = moe::Inactive::Keep;
    moe::Plan plan(team, options);
    const auto got = moe::seed_dispatch(plan, mine.x.data(), mine.tokens, mine.ids, mine.mask);
    const auto rows = reference_rows(shape, batches, team.pe());
    ASSERT_EQ(static_cast<std::size_t>(got.recv_counts), rows.size());
    ASSERT_EQ(got.assist_info_for_combine.size(), 3 * rows.size());
    std::array<int, 4> nums{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(got.assist_info_for_combine[3 * i], rows[i].pe);
      EXPECT_EQ(got.assist_info_for_combine[3 * i + 1], static_cast<int>(rows[i].token));
      EXPECT_EQ(got.assist_info_for_combine[3 * i + 2], rows[i].k);
      EXPECT_EQ(got.expand_x[i * 16],
                batches[static_cast<std::size_t>(rows[i].pe)].x[rows[i].token * 16]);
      ++nums[static_cast<std::size_t>(rows[i].expert % 4)];
    }
    EXPECT_THAT(got.expert_token_nums, ::testing::ElementsAreArray(nums));

    const std::vector<bf16> y = experts_of<bf16>(plan, got.handle);
    std::vector<bf16> out(mine.tokens * 16, to_bf16(5));
    moe::seed_combine<bf16>(plan, y, got.handle, mine.weights, out.data(), mine.tokens);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bf16 expected =
          mine.active(i / 16) ? reference_output(shape, mine, i / 16, i % 16) : to_bf16(5);
      EXPECT_EQ(out[i], expected) << "PE " << team.pe() << " element " << i;
    }
  });
}

}  // namespace
}  // namespace tutti::tests
