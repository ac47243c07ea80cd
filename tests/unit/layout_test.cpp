// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

#include "primitives/tensor_runs.hpp"
#include "tutti/error.hpp"
#include "tutti/shape.hpp"

namespace tutti::detail {
namespace {

/// The elements of a sub-block by the definition: count through all indices.
std::vector<std::size_t> elements_of(const Extents& whole, const Extents& offsets,
                                     const Extents& extents) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < extents.product(); ++i) {
    std::size_t rest = i;
    std::size_t stride = 1;
    std::size_t at = 0;
    for (std::size_t d = whole.dims(); d-- > 0;) {
      at += (offsets[d] + rest % extents[d]) * stride;
      rest /= extents[d];
      stride *= whole[d];
    }
    found.push_back(at);
  }
  return found;
}

struct Walk {
  std::vector<std::size_t> elements;
  std::size_t runs = 0;
};

Walk walk(RunCursor cursor) {
  Walk walk;
  std::size_t n = 0;
  while ((n = cursor.run()) > 0) {
    for (std::size_t i = 0; i < n; ++i) walk.elements.push_back(cursor.offset() + i);
    ++walk.runs;
    cursor.skip(n);
  }
  return walk;
}

struct Block {
  Extents whole, offsets, extents;
};

Block random_block(std::mt19937& random) {
  Block block;
  const std::size_t dims = 1 + random() % Extents::kMaxDims;
  std::vector<std::size_t> whole(dims), offsets(dims), extents(dims);
  for (std::size_t d = 0; d < dims; ++d) {
    whole[d] = random() % 6;
    offsets[d] = random() % 3 == 0 ? 0 : random() % (whole[d] + 1);
    extents[d] = random() % 3 == 0 ? whole[d] - offsets[d] : random() % (whole[d] - offsets[d] + 1);
  }
  return {Extents(whole), Extents(offsets), Extents(extents)};
}

TEST(Layout, cursor_visits_the_elements_of_any_sub_block_in_row_major_order) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const Block b = random_block(random);
    ASSERT_EQ(walk(RunCursor(b.whole, b.offsets, b.extents)).elements,
              elements_of(b.whole, b.offsets, b.extents))
        << text_of(b.whole) << text_of(b.offsets) << text_of(b.extents);
  }
}

TEST(Layout, runs_that_touch_are_one) {
  const auto runs = [](const Extents& whole, const Extents& offsets, const Extents& extents) {
    return walk(RunCursor(whole, offsets, extents)).runs;
  };
  EXPECT_EQ(runs({16, 64}, {0, 0}, {16, 64}), 1u);
  EXPECT_EQ(runs({16, 64}, {4, 0}, {8, 64}), 1u);
  EXPECT_EQ(runs({16, 64}, {4, 1}, {8, 63}), 8u);
  EXPECT_EQ(runs({16, 64}, {4, 1}, {1, 63}), 1u);
  EXPECT_EQ(runs({4, 8, 16}, {1, 2, 0}, {1, 3, 16}), 1u);
  EXPECT_EQ(runs({4, 8, 16}, {1, 2, 0}, {2, 3, 16}), 2u);
  EXPECT_EQ(runs({2, 4, 8, 16}, {0, 0, 0, 0}, {2, 4, 8, 1}), 64u);
  EXPECT_EQ(runs({1, 0, 2}, {0, 0, 0}, {1, 0, 2}), 0u);
  EXPECT_EQ(runs({7}, {3}, {4}), 1u);
}

TEST(Layout, pieces_are_contiguous_on_both_sides_and_cover_everything_once) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const Block a = random_block(random);
    const Block b = random_block(random);
    if (a.extents.product() != b.extents.product()) continue;
    std::vector<std::size_t> left, right;
    for_each_piece(RunCursor(a.whole, a.offsets, a.extents),
                   RunCursor(b.whole, b.offsets, b.extents),
                   [&](std::size_t x, std::size_t y, std::size_t n) {
                     for (std::size_t k = 0; k < n; ++k) left.push_back(x + k);
                     for (std::size_t k = 0; k < n; ++k) right.push_back(y + k);
                   });
    ASSERT_EQ(left, elements_of(a.whole, a.offsets, a.extents));
    ASSERT_EQ(right, elements_of(b.whole, b.offsets, b.extents));
  }
}

TEST(Layout, products_that_do_not_fit_are_noticed) {
  const std::size_t most = std::size_t{1} << 40;
  EXPECT_EQ(product_within({1 << 20, 1 << 20}, most), most);
  EXPECT_EQ(product_within({1 << 20, 1 << 20, 2}, most), std::nullopt);
  EXPECT_EQ(product_within({std::size_t{1} << 63, 2}, most), std::nullopt);
  EXPECT_EQ(product_within({0, 5}, most), 0u);
  EXPECT_EQ(product_within({0, -1}, most), std::nullopt);
  EXPECT_EQ(text_of({4, -1}), "{4, -1}");
}

TEST(Layout, offsets_beyond_four_billion_are_exact) {
  const std::size_t row = (std::size_t{1} << 31) + 64;
  RunCursor cursor({9, row}, {8, row - 7}, {1, 7});
  EXPECT_EQ(cursor.offset(), 8 * row + row - 7);
  EXPECT_EQ(cursor.run(), 7U);
  RunCursor all({9, row}, {0, 0}, {9, row});
  EXPECT_EQ(all.run(), 9 * row) << "one run of more than four billion elements";
}

TEST(Layout, six_dimensions_are_refused) {
  const std::vector<std::size_t> six(6, 1);
  EXPECT_THROW(Extents{std::span<const std::size_t>(six)}, Error);
}

}  // namespace
}  // namespace tutti::detail
