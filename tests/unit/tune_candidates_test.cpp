// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/tune/candidates.hpp"
#include "tutti/problem.hpp"

namespace tutti::tests {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> candidates_of(int pes, std::size_t bytes) {
  Problem problem;
  problem.pes = pes;
  problem.count = bytes / 4;
  return bench::candidates(problem);
}

TEST(TuneCandidates, what_makes_no_difference_at_a_size_is_tried_once) {
  const auto small = candidates_of(2, 1 << 10);  // comes back to its lines after two calls anyway
  EXPECT_THAT(small, Contains("one_shot"));
  EXPECT_THAT(small, Not(Contains("one_shot:slots=2")));
  EXPECT_THAT(small, Contains("one_shot:slots=512"));
  EXPECT_THAT(candidates_of(2, 8 << 10), Contains("one_shot:slots=2"));

  EXPECT_THAT(candidates_of(2, 32 << 10), Not(Contains("one_shot:chunk_bytes=64K"))) << "one chunk";
  EXPECT_THAT(candidates_of(2, 128 << 10), Contains("one_shot:chunk_bytes=64K"));
}

TEST(TuneCandidates, the_way_that_staging_is_written_is_a_difference) {
  EXPECT_THAT(candidates_of(2, 64 << 10), Contains("one_shot:store=stream"));
  EXPECT_THAT(candidates_of(2, 64), Each(Not(HasSubstr("store=stream")))) << "of one line";
}

TEST(TuneCandidates, trees_are_tried_with_more_than_two_children_where_there_are_so_many_pes) {
  EXPECT_THAT(candidates_of(16, 4 << 10), Contains("tree:fanout=4"));
  EXPECT_THAT(candidates_of(2, 4 << 10), Each(Not(HasSubstr("fanout"))));
}

}  // namespace
}  // namespace tutti::tests
