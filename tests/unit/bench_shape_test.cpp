// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <regex>
#include <string>

#include "bench/shape.hpp"
#include "bench/tables.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using ::testing::HasSubstr;

TEST(BenchShape, uneven_blocks_add_up_and_are_proportional_to_the_place) {
  for (int pes = 1; pes <= 33; ++pes) {
    const Blocks exact(static_cast<std::size_t>(pes * (pes + 1) / 2) * 10, pes, true);
    for (const std::size_t elements : {0, 1, 7, 1000, 12345}) {
      const Blocks blocks(elements, pes, true);
      EXPECT_EQ(blocks.total(), elements);
      for (int pe = 0; pe + 1 < pes; ++pe) EXPECT_LE(blocks.size(pe), blocks.size(pe + 1) + 1);
    }
    for (int pe = 0; pe < pes; ++pe) EXPECT_EQ(exact.size(pe), 10U * static_cast<unsigned>(pe + 1));
  }
  const std::size_t huge = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_EQ(Blocks(huge, 1000, true).total(), huge);
}

TEST(BenchShape, equal_blocks_drop_the_remainder) {
  const Blocks blocks(23, 4, false);
  EXPECT_EQ(blocks.size(0), 5u);
  EXPECT_EQ(blocks.size(3), 5u);
  EXPECT_EQ(blocks.total(), 20u);
}

/// What every PE gets, read off what every PE gives, for all collectives that only move data.
TEST(BenchShape, every_element_of_an_output_has_its_place_in_an_input) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (reduces(collective)) continue;
    const Shape shape = shape_of(collective);
    for (int pes = 1; pes <= 8; ++pes) {
      const std::size_t elements = 100;
      const Blocks blocks(elements, pes, has_counts(collective));
      for (int pe = 0; pe < pes; ++pe) {
        for (std::size_t i = 0; i < out_elements(shape, blocks, pe, elements); ++i) {
          const Source from = source_of(shape, blocks, pe, i);
          ASSERT_LT(from.pe, pes) << name_of(collective);
          ASSERT_LT(from.index, in_elements(shape, blocks, from.pe, elements))
              << name_of(collective) << ", PE " << pe << " of " << pes << ", element " << i;
        }
      }
    }
  }
}

TEST(BenchTables, regimes_are_tables_of_their_own_with_a_row_a_size_and_a_column_a_kind) {
  const std::array<TableCell, 4> cells = {{
      {"allgather/f32/sum/private/auto/bytes:65536", 1e-6, 40, 0, 2, 1.9, 2.1},
      {"reduce/f32/sum/private/auto/bytes:8", 1e-6, 50, 0, 1.5, 1.4, 1.6},
      {"allgather/f32/sum/private/auto/bytes:8", 2e-6, 200, 3, 0, 0, 0},
      {"barrier", 5e-8, 60, 0, 4, 3.9, 4.1},
  }};
  const std::string text = markdown("two PEs", cells);
  EXPECT_THAT(text, HasSubstr("two PEs\n\nnear: line transfer 40 to 60 ns\n\n"
                              "| bytes | allgather/f32/sum/private | reduce/f32/sum/private |"
                              " barrier |\n|---|---|---|---|\n"));
  EXPECT_THAT(text, HasSubstr("| - |  |  | 4.00 [3.90, 4.10] |\n"
                              "| 8 |  | 1.50 [1.40, 1.60] |  |\n"
                              "| 64 Ki | 2.00 [1.90, 2.10] |  |  |\n"));
  EXPECT_THAT(text, HasSubstr("far: line transfer 200 to 200 ns"));
  EXPECT_THAT(text, HasSubstr("| 8 | 2.00 us, 3 WRONG |"));
}

TEST(BenchTables, every_table_of_the_performance_page_has_a_name) {
  for (const char* name : {"allreduce", "collectives", "counts", "halves", "primitives"}) {
    EXPECT_NE(find_table(name), nullptr) << name;
  }
  EXPECT_EQ(find_table("none"), nullptr);
}

TEST(BenchTables, the_table_of_primitives_has_every_row_that_the_page_names) {
  const std::regex filter{std::string(find_table("primitives")->filter)};
  for (const char* row : {"barrier", "wait", "decision", "put_self/bytes:8", "put_signal/bytes:8",
                          "put_signal/own_word/bytes:8", "put/bytes:4096", "get/bytes:4096",
                          "put_tiled/bytes:65536"}) {
    EXPECT_TRUE(std::regex_search(row, filter)) << row;
  }
}

}  // namespace
}  // namespace tutti::tests
