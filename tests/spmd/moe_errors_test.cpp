// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/moe_check.hpp"
#include "tutti/error.hpp"

namespace tutti::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr int kPes = 3;

struct Caught {
  ErrorCode code;
  std::string text;
};

template <class Body>
std::optional<Caught> caught(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return Caught{error.code(), error.what()};
  }
  return std::nullopt;
}

MoeShape small_shape() { return {4, 2, 3, balanced_owners(4, kPes)}; }

/// A correct round on `plan`: the team and the plan have survived.
void expect_usable(Team& team, moe::Plan& plan, std::uint64_t seed) {
  std::vector<MoeBatch<float>> batches;
  batches.reserve(kPes);
  for (int pe = 0; pe < kPes; ++pe) {
    batches.push_back(make_batch<float>(small_shape(), seed, pe, 4, true));
  }
  check_round(team, plan, small_shape(), batches, {.name = "after an error"});
}

/// Runs `body` on every PE, over load/store and over the loopback; each PE must catch `code` with
/// `text`, and the same text as the others.
template <class Body>
void expect_agreed(ErrorCode code, const std::string& text, Body&& body) {
  for (const bool loopback : {false, true}) {
    Options world;
    world.loopback = loopback;
    std::vector<std::string> texts(kPes);
    run(
        kPes,
        [&](Team& team) {
          moe::Plan plan(team, options_for(small_shape(), 4, DType::F32));
          expect_usable(team, plan, 1);
          for (int round = 0; round < 3; ++round) {
            const auto error = caught([&] { body(team, plan); });
            ASSERT_TRUE(error) << "PE " << team.pe() << ": no error";
            EXPECT_EQ(error->code, code) << error->text;
            texts[static_cast<std::size_t>(team.pe())] = error->text;
          }
          expect_usable(team, plan, 2);
        },
        world);
    EXPECT_THAT(texts, Each(AllOf(HasSubstr(text), ::testing::Eq(texts[0]))));
  }
}

const std::vector<float> kX(4 * 3, 1);
const std::vector<float> kWeights(4 * 2, 1);
const std::vector<int> kIds = {0, 1, 2, 3, 0, 1, 2, 3};

TEST(MoeErrors, an_id_out_of_range_is_named_on_all_pes) {
  for (const int id : {4, -2, 1 << 30}) {
    std::vector<int> ids = kIds;
    ids[5] = id;
    expect_agreed(ErrorCode::InvalidArgument,
                  "PE 1, token 2, k 1: expert id is " + std::to_string(id),
                  [&](Team& team, moe::Plan& plan) {
                    plan.dispatch({kX.data(), 4}, team.pe() == 1 ? ids : kIds, kWeights);
                  });
  }
  std::vector<std::int64_t> wide(8, 0);
  wide[7] = std::int64_t{1} << 40;
  expect_agreed(ErrorCode::InvalidArgument, "PE 0, token 3, k 1: expert id is 1099511627776",
                [&](Team&, moe::Plan& plan) {
                  plan.dispatch({kX.data(), 4}, wide, kWeights);
                });
}

TEST(MoeErrors, arguments_that_one_pe_refuses_end_the_dispatch_everywhere) {
  const std::vector<bf16> narrow(4 * 3);
  expect_agreed(ErrorCode::InvalidArgument, "PE 2: x has type bf16, the plan has f32",
                [&](Team& team, moe::Plan& plan) {
                  if (team.pe() == 2) plan.dispatch({narrow.data(), 4}, kIds, kWeights);
                  plan.dispatch({kX.data(), 4}, kIds, kWeights);
                });
  expect_agreed(ErrorCode::InvalidArgument, "PE 1: x has 5 tokens; allowed are 0 to 4",
                [&](Team& team, moe::Plan& plan) {
                  const std::size_t tokens = team.pe() == 1 ? 5 : 4;
                  plan.dispatch({kX.data(), tokens}, kIds, kWeights);
                });
  expect_agreed(ErrorCode::InvalidArgument, "PE 0: 7 ids for 4 tokens with 2 each",
                [&](Team& team, moe::Plan& plan) {
                  const std::span ids(kIds);
                  plan.dispatch({kX.data(), 4}, ids.first(team.pe() == 0 ? 7 : 8), kWeights);
                });
  expect_agreed(ErrorCode::InvalidArgument, "PE 1: a mask of 3 flags for 4 tokens",
                [&](Team& team, moe::Plan& plan) {
                  const std::vector<std::uint8_t> mask(team.pe() == 1 ? 3 : 4, 1);
                  plan.dispatch({kX.data(), 4}, kIds, kWeights, mask);
                });
  expect_agreed(ErrorCode::InvalidArgument, "PE 1: x has a row stride of 2 elements",
                [&](Team& team, moe::Plan& plan) {
                  const std::size_t stride = team.pe() == 1 ? 2 : 0;
                  plan.dispatch({kX.data(), 4, stride}, kIds, kWeights);
                });
}

TEST(MoeErrors, more_rows_than_planned_are_counted_and_named) {
  // Every id on expert 0 twice a token: 24 rows for PE 0, which is planned for 3 * 4 * min(2, 2).
  const std::vector<int> ids(8, 0);
  run(kPes, [&](Team& team) {
    auto options = options_for(small_shape(), 4, DType::F32);
    options.max_rows = 23;
    moe::Plan plan(team, options);
    const auto error = caught([&] { plan.dispatch({kX.data(), 4}, ids, kWeights); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::OutOfMemory);
    EXPECT_THAT(error->text, HasSubstr("PE 0 would receive 24 rows, the plan has room for 23"));
    expect_usable(team, plan, 3);
  });
}

TEST(MoeErrors, a_combine_that_one_pe_refuses_may_be_repeated) {
  std::vector<MoeBatch<float>> batches;
  batches.reserve(kPes);
  for (int pe = 0; pe < kPes; ++pe) {
    batches.push_back(make_batch<float>(small_shape(), 9, pe, 4, false));
  }
  for (const bool loopback : {false, true}) {
    Options world;
    world.loopback = loopback;
    run(
        kPes,
        [&](Team& team) {
          const auto& mine = batches[static_cast<std::size_t>(team.pe())];
          moe::Plan plan(team, options_for(small_shape(), 4, DType::F32));
          const moe::Handle handle = dispatch(plan, mine, {});
          for (int round = 0; round < 5; ++round) {
            std::vector<float> out(12, 5);
            const std::size_t rows = team.pe() == 1 ? 3 : 4;
            const auto error = caught([&] { plan.combine(handle, {out.data(), rows}); });
            ASSERT_TRUE(error);
            EXPECT_THAT(error->text, HasSubstr("PE 1: out has 3 rows for 4 tokens"));
            EXPECT_THAT(out, Each(5)) << "out is not touched";
          }
          combine(plan, small_shape(), mine, team.pe(), handle, {.name = "repeated"});
        },
        world);
  }
}

TEST(MoeErrors, a_handle_is_used_once_and_ends_with_the_next_dispatch) {
  run(kPes, [&](Team& team) {
    moe::Plan plan(team, options_for(small_shape(), 4, DType::F32));
    std::vector<float> out(12);
    const moe::Handle first = plan.dispatch({kX.data(), 4}, kIds, kWeights);
    plan.combine(first, {out.data(), 4});
    const auto twice = caught([&] { plan.combine(first, {out.data(), 4}); });
    ASSERT_TRUE(twice);
    EXPECT_THAT(twice->text, HasSubstr("combined already"));

    const moe::Handle second = plan.dispatch({kX.data(), 4}, kIds, {});
    EXPECT_TRUE(caught([&] { (void)first.total(); }));
    EXPECT_TRUE(caught([&] { (void)moe::Handle().rows<float>(); }));
    EXPECT_TRUE(caught([&] { (void)second.rows<bf16>(); }));
    const auto stale = caught([&] { plan.combine(first, {out.data(), 4}); });
    ASSERT_TRUE(stale);
    EXPECT_THAT(stale->text, HasSubstr("not of this plan's last dispatch"));
    const auto weightless = caught([&] { plan.combine(second, {out.data(), 4}); });
    ASSERT_TRUE(weightless);
    EXPECT_THAT(weightless->text, HasSubstr("weights were given neither"));
    expect_usable(team, plan, 4);
  });
}

TEST(MoeErrors, plans_that_cannot_be_made_are_refused_alike_on_all_pes) {
  struct Wrong {
    const char* text;
    void (*spoil)(moe::PlanOptions&);
    bool on_all_pes = false;
  };
  const std::vector<Wrong> wrongs = {
      {"PE 1: 0 experts", [](moe::PlanOptions& o) { o.experts = 0; }},
      {"PE 1: topk is 0", [](moe::PlanOptions& o) { o.topk = 0; }},
      {"PE 1: hidden is 0", [](moe::PlanOptions& o) { o.hidden = 0; }},
      {"PE 1: type i32 is not supported", [](moe::PlanOptions& o) { o.dtype = DType::I32; }},
      {"PE 1: padding is 3; allowed are powers of two", [](moe::PlanOptions& o) { o.padding = 3; }},
      {"PE 1: lane is 4; allowed are 0 to 3", [](moe::PlanOptions& o) { o.lane = 4; }},
      {"PE 1: placement has 2 entries",
       [](moe::PlanOptions& o) {
         o.placement = {0, 1};
       }},
      {"PE 1: placement puts expert 3 on PE 3",
       [](moe::PlanOptions& o) {
         o.placement = {0, 0, 1, 3};
       }},
      {"PE 1: unknown dispatch algorithm \"magic\"; valid are: publish_pull",
       [](moe::PlanOptions& o) { o.dispatch = "magic"; }},
      {"PE 0 and PE 1 give different topk (2 and 3)", [](moe::PlanOptions& o) { o.topk = 3; }},
      {"PE 0 and PE 1 give different placement",
       [](moe::PlanOptions& o) {
         o.placement = {2, 1, 0, 0};
       }},
      {"want", [](moe::PlanOptions& o) { o.hidden = std::size_t{1} << 50; }, true},
      {"max_rows and padding must stay below 2^31",
       [](moe::PlanOptions& o) { o.max_rows = std::size_t{1} << 60; }, true},
  };
  run(kPes, [&](Team& team) {
    for (const Wrong& wrong : wrongs) {
      auto options = options_for(small_shape(), 4, DType::F32);
      if (wrong.on_all_pes || team.pe() == 1) wrong.spoil(options);
      const auto error = caught([&] { moe::Plan plan(team, options); });
      ASSERT_TRUE(error) << wrong.text;
      EXPECT_THAT(error->text, HasSubstr(wrong.text));
    }
    moe::Plan plan(team, options_for(small_shape(), 4, DType::F32));
    expect_usable(team, plan, 5);
  });
}

TEST(MoeErrors, different_calls_are_a_mismatch_and_not_a_hang) {
  EXPECT_THROW(run(2,
                   [](Team& team) {
                     const MoeShape shape{4, 2, 3, balanced_owners(4, 2)};
                     moe::Plan one(team, options_for(shape, 4, DType::F32));
                     moe::Plan other(team, options_for(shape, 4, DType::F32));
                     (team.pe() == 0 ? one : other).dispatch({kX.data(), 4}, kIds, kWeights);
                   }),
               Error);
}

}  // namespace
}  // namespace tutti::tests
