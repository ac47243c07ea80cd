// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "moe/layout.hpp"
#include "moe/placement.hpp"
#include "moe/routing.hpp"

namespace tutti::moe {
namespace {

using ::testing::ElementsAre;

TEST(MoePlacement, balanced_blocks_hold_every_expert_once) {
  for (int pes = 1; pes <= 33; ++pes) {
    for (int experts = 1; experts <= 64; ++experts) {
      const Placement placement = place(experts, pes, {});
      std::vector<int> all;
      int least = experts;
      for (int pe = 0; pe < pes; ++pe) {
        least = std::min(least, placement.local(pe));
        for (const int expert : placement.experts_of(pe)) {
          const int slot = placement.slot_of[static_cast<std::size_t>(expert)];
          ASSERT_EQ(placement.owner[static_cast<std::size_t>(slot)], pe);
          all.push_back(expert);
        }
      }
      ASSERT_EQ(all.size(), static_cast<std::size_t>(experts));
      ASSERT_TRUE(std::ranges::is_sorted(all)) << "blocks are contiguous";
      ASSERT_LE(placement.most_local - least, 1);
    }
  }
}

TEST(MoePlacement, a_table_is_obeyed_and_local_experts_ascend) {
  const std::vector<int> table = {2, 0, 2, 2, 0};
  const Placement placement = place(5, 4, table);
  EXPECT_THAT(placement.first_slot, ElementsAre(0, 2, 2, 5, 5));
  EXPECT_THAT(placement.expert_of, ElementsAre(1, 4, 0, 2, 3));
  EXPECT_EQ(placement.most_local, 3);
}

TEST(MoeRouting, entries_are_by_slot_then_token_then_k) {
  const std::vector<int> table = {1, 0, 1};
  const Placement placement = place(3, 2, table);
  Routing routing(placement, 4, 2);
  const std::vector<std::int32_t> ids = {0, 1, 0, 0, -1, 2, 7, 7};
  const std::vector<std::uint8_t> mask = {1, 1, 1, 0};
  ASSERT_FALSE(route(placement, 4, ids, mask, routing));
  EXPECT_THAT(routing.begin, ElementsAre(0, 1, 4, 5));  // experts 1, 0, 2
  const std::vector<Entry> expected = {{0, 1}, {0, 0}, {1, 0}, {1, 1}, {2, 1}};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), routing.entries.begin()));
  EXPECT_EQ(routing.rows_for(placement, 0), 1u);
  EXPECT_EQ(routing.rows_for(placement, 1), 4u);
  EXPECT_EQ(routing.slot[4], Routing::kNone);
  EXPECT_EQ(routing.slot[6], Routing::kNone);
  EXPECT_EQ(routing.index[3], 2u);
}

TEST(MoeRouting, the_first_bad_id_is_reported_and_nothing_is_routed) {
  const Placement placement = place(4, 2, {});
  Routing routing(placement, 2, 2);
  const std::vector<std::int64_t> ids = {0, 3, -5, 4};
  const auto bad = route(placement, 2, ids, {}, routing);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->token, 1u);
  EXPECT_EQ(bad->k, 0u);
  EXPECT_EQ(bad->id, -5);
  EXPECT_EQ(routing.tokens, 0u);
  EXPECT_EQ(routing.begin.back(), 0u);
}

TEST(MoeRouting, masks_of_any_width_work) {
  const Placement placement = place(1, 1, {});
  Routing routing(placement, 3, 1);
  const std::vector<std::int32_t> ids = {0, 0, 0};
  const auto rows = [&](const Mask& mask) {
    EXPECT_FALSE(route(placement, 3, ids, mask, routing));
    return routing.begin.back();
  };
  EXPECT_EQ(rows({}), 3u);
  EXPECT_EQ(rows(std::array<bool, 3>{true, false, true}), 2u);
  EXPECT_EQ(rows(std::array<std::int32_t, 3>{256, 0, 0}), 1u);
  EXPECT_EQ(rows(std::array<std::int64_t, 3>{std::int64_t{1} << 40, 0, -1}), 2u);
}

TEST(MoeLayout, ranges_do_not_overlap_and_end_inside) {
  for (std::size_t pes = 1; pes <= 300; pes += 13) {
    for (const std::size_t row_bytes : {2u, 14u, 5760u}) {
      const LayoutSizes sizes{pes, 7, 3, 5, 2, row_bytes, pes * 15};
      const SharedLayout layout = lay_out(sizes);
      std::vector<std::pair<std::size_t, std::size_t>> ranges;  // begin, end
      for (const auto& each : layout.dispatch) {
        ranges.emplace_back(each.head, each.head + sizeof(DispatchHead) + 4 * pes);
        ranges.emplace_back(each.begin, each.begin + 4 * 8);
        ranges.emplace_back(each.entries, each.entries + sizeof(Entry) * 10);
        ranges.emplace_back(each.tokens, each.tokens + 5 * row_bytes);
        ranges.emplace_back(each.text, each.text + kTextBytes);
      }
      for (std::size_t parity = 0; parity < 2; ++parity) {
        for (std::size_t pe = 0; pe < pes; ++pe) {
          const std::size_t at = layout.head_for(parity, static_cast<int>(pe));
          ranges.emplace_back(at, at + sizeof(CombineHead) + 4 * 3);
        }
        ranges.emplace_back(layout.combine[parity].text, layout.combine[parity].text + kTextBytes);
      }
      ranges.emplace_back(layout.outputs, layout.outputs + sizes.padded_rows * row_bytes);
      std::ranges::sort(ranges);
      for (std::size_t i = 1; i < ranges.size(); ++i) {
        ASSERT_LE(ranges[i - 1].second, ranges[i].first) << "pes " << pes << " range " << i;
      }
      ASSERT_LE(ranges.back().second, layout.bytes);
    }
  }
}

}  // namespace
}  // namespace tutti::moe
