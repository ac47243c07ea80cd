// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "primitives/barrier.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

TEST(BarrierChoice, few_pes_and_crowded_ones_meet_in_one_step) {
  for (int pes = 1; pes <= 64; ++pes) {
    EXPECT_EQ(usual_barrier(pes, false), pes <= 4 ? BarrierKind::Flat : BarrierKind::Dissemination)
        << pes;
    EXPECT_EQ(usual_barrier(pes, true), BarrierKind::Flat) << pes;
  }
}

TEST(BarrierChoice, it_is_found_among_the_choices_of_collectives) {
  EXPECT_EQ(forced_barrier("", "x"), std::nullopt);
  EXPECT_EQ(forced_barrier("allreduce=ring;allgather=tree", "x"), std::nullopt);
  EXPECT_EQ(forced_barrier("barrier=flat", "x"), BarrierKind::Flat);
  EXPECT_EQ(forced_barrier("allreduce=tree:fanout=2; barrier = tree ;", "x"), BarrierKind::Tree);
  EXPECT_EQ(forced_barrier(";;barrier=dissemination", "x"), BarrierKind::Dissemination);
}

std::string refusal(const char* text) {
  try {
    forced_barrier(text, "X");
  } catch (const Error& error) {
    return error.code() == ErrorCode::Tuning ? error.what() : "another code";
  }
  return "nothing";
}

TEST(BarrierChoice, what_cannot_be_meant_is_refused_with_what_can) {
  EXPECT_EQ(refusal("barrier="),
            "X: unknown algorithm of barrier ''; there are flat, dissemination, tree");
  EXPECT_EQ(refusal("barrier=tree:fanout=2"),
            "X: unknown algorithm of barrier 'tree:fanout=2'; there are flat, dissemination, tree");
  EXPECT_EQ(refusal("barrier=flat;barrier=tree"), "X: barrier is given twice");
}

}  // namespace
}  // namespace tutti::detail
