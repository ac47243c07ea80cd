// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "collectives/tuner/cost.hpp"
#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/predicted.hpp"
#include "library_choices.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::HasSubstr;

/// Walks through the sizes, and by bisection to every size at which the choice changes: the two
/// choices cost about the same there.
void expect_no_cliff(Problem problem, int& changes) {
  const auto at = [&](std::size_t count) {
    problem.count = count;
    return chosen(problem);
  };
  Decision last = at(0);
  std::size_t low = 0;
  for (double size = 1; size <= static_cast<double>(64 * kMi); size *= 1.5) {
    const auto sample = static_cast<std::size_t>(size);
    const Decision there = at(sample);
    while (last.hash != there.hash) {
      std::size_t high = sample;
      while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (at(middle).hash == last.hash ? low : high) = middle;
      }
      Decision now = at(high);
      if (why_not(*last.algorithm, problem) == nullptr) {
        ++changes;
        const CostModel model = cost_model({}, problem);
        const double before = predicted_us(*last.algorithm, last.params, problem, model);
        const double after = predicted_us(*now.algorithm, now.params, problem, model);
        EXPECT_LT(std::max(before, after), 1.25 * std::min(before, after))
            << describe(problem) << ": " << choice_of(last) << " " << before << " us, "
            << choice_of(now) << " " << after << " us";
      }
      last = std::move(now);
      low = high;
    }
    low = sample;
  }
}

TEST(TunerPredicted, neighbouring_sizes_never_fall_off_a_cliff) {
  int changes = 0;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const int line_ns : {30, 79, 100, 250}) {
      std::vector<int> sizes = {96, 130, 1000};
      for (int pes = 2; pes <= 64; ++pes) sizes.push_back(pes);
      for (const int pes : sizes) {
        expect_no_cliff(problem_of(static_cast<Collective>(c), pes, line_ns), changes);
      }
      for (const int pes : {3, 4, 8, 16, 33, 64}) {
        const auto collective = static_cast<Collective>(c);
        expect_no_cliff(problem_of(collective, pes, line_ns, Memory::Symmetric), changes);
      }
    }
  }
  EXPECT_GE(changes, 1000);
}

/// The choices at powers of four from 16 bytes to 16 MiB, those that repeat left out.
std::string choices(Problem problem) {
  std::string text;
  std::string last;
  for (std::size_t bytes = 16; bytes <= 16 * kMi; bytes *= 4) {
    problem.count = bytes;
    const std::string now = choice_of(chosen(problem));
    if (now == last) continue;
    const std::string size = bytes < kKi   ? std::to_string(bytes)
                             : bytes < kMi ? std::to_string(bytes / kKi) + "K"
                                           : std::to_string(bytes / kMi) + "M";
    text += (text.empty() ? "" : ", ") + size + " " + now;
    last = now;
  }
  return text;
}

struct Row {
  Collective collective;
  int pes;
  int line_ns;
  Memory memory;
  const char* choices;  ///< each from a size on: of the vector, or of a block
};

std::vector<Row> snapshot() {
  using enum Collective;
  using enum Memory;
  return {
      {Allreduce, 3, 45, Private, "16 one_line, 64 one_shot, 16K two_shot"},
      {Allreduce, 3, 220, Private,
       "16 one_line, 64 one_shot, 4K one_shot:store=stream, 16K two_shot:store=stream"},
      {Allreduce, 8, 45, Private, "16 one_line, 64 one_shot, 1K two_shot"},
      {Allreduce, 8, 220, Private, "16 one_line, 64 one_shot, 4K two_shot:store=stream"},
      {Allreduce, 64, 45, Private, "16 one_line, 64 one_shot, 256 two_shot"},
      {Allreduce, 64, 220, Private,
       "16 one_line, 64 one_shot, 1K two_shot, 4K two_shot:store=stream"},
      {Allgather, 3, 45, Private, "16 one_line, 64 direct"},
      {Allgather, 3, 220, Private, "16 one_line, 64 direct, 4K direct:store=stream"},
      {Allgather, 8, 45, Private, "16 one_line, 64 direct"},
      {Allgather, 8, 220, Private, "16 one_line, 64 direct, 4K direct:store=stream"},
      {Allgather, 64, 45, Private, "16 one_line, 64 direct"},
      {Allgather, 64, 220, Private, "16 one_line, 64 direct"},
      {ReduceScatter, 3, 45, Private, "16 one_line, 64 direct"},
      {ReduceScatter, 3, 220, Private, "16 one_line, 64 direct, 1K direct:store=stream"},
      {ReduceScatter, 8, 45, Private, "16 direct"},
      {ReduceScatter, 8, 220, Private, "16 direct, 1K direct:store=stream"},
      {ReduceScatter, 64, 45, Private, "16 direct"},
      {ReduceScatter, 64, 220, Private, "16 direct, 1K direct:store=stream"},
      {Broadcast, 3, 45, Private, "16 one_line, 64 flat"},
      {Broadcast, 3, 220, Private, "16 one_line, 64 flat, 4K flat:store=stream"},
      {Broadcast, 8, 45, Private, "16 one_line, 64 flat"},
      {Broadcast, 8, 220, Private, "16 one_line, 64 flat, 4K flat:store=stream"},
      {Broadcast, 64, 45, Private, "16 one_line, 64 flat"},
      {Broadcast, 64, 220, Private, "16 one_line, 64 flat, 4K flat:store=stream"},
      {Reduce, 3, 45, Private, "16 one_line, 64 direct"},
      {Reduce, 3, 220, Private, "16 one_line, 64 direct, 4K direct:store=stream"},
      {Reduce, 8, 45, Private, "16 one_line, 64 direct, 1M binomial"},
      {Reduce, 8, 220, Private,
       "16 one_line, 64 direct, 4K direct:store=stream, 64K binomial:store=stream"},
      {Reduce, 64, 45, Private, "16 one_line, 64 direct, 1K binomial"},
      {Reduce, 64, 220, Private, "16 one_line, 64 direct, 1K binomial:store=stream"},
      {Alltoall, 3, 45, Private, "16 one_line, 64 direct"},
      {Alltoall, 3, 220, Private, "16 one_line, 64 direct, 1K direct:store=stream"},
      {Alltoall, 8, 45, Private, "16 direct"},
      {Alltoall, 8, 220, Private, "16 direct, 1K direct:store=stream"},
      {Alltoall, 64, 45, Private, "16 direct"},
      {Alltoall, 64, 220, Private, "16 direct, 1K direct:store=stream"},
      {Gather, 8, 45, Private, "16 one_line, 64 direct"},
      {Gather, 8, 220, Private, "16 one_line, 64 direct, 4K direct:store=stream, 1M direct"},
      {Scatter, 8, 45, Private, "16 direct"},
      {Scatter, 8, 220, Private, "16 direct, 1K direct:store=stream"},
      {Allgatherv, 8, 45, Private, "16 direct"},
      {Allgatherv, 8, 220, Private, "16 direct, 16K direct:store=stream"},
      {RingShift, 8, 45, Private, "16 one_line, 64 direct"},
      {RingShift, 8, 220, Private, "16 one_line, 64 direct, 4K direct:store=stream"},
      {Allreduce, 8, 45, Symmetric, "16 one_line, 64 one_shot, 1K two_shot, 1M symmetric_push"},
      {Allreduce, 8, 220, Symmetric, "16 one_line, 64 one_shot, 4K two_shot:store=stream"},
      {Allgather, 8, 45, Symmetric, "16 one_line, 64 direct"},
      {Allgather, 8, 220, Symmetric, "16 one_line, 64 direct, 4K direct:store=stream"},
      {ReduceScatter, 8, 45, Symmetric, "16 direct, 256K symmetric_pull"},
      {ReduceScatter, 8, 220, Symmetric, "16 direct, 1K direct:store=stream"},
      {RingShift, 8, 45, Symmetric, "16 one_line, 64 direct, 1M symmetric_push"},
      {RingShift, 8, 220, Symmetric, "16 one_line, 64 direct, 4K direct:store=stream"},
      {Allreduce, 8, 100, Private, "16 one_line, 64 one_shot, 1K two_shot"},
      {Alltoall, 8, 100, Private, "16 direct, 64K direct:store=stream"},
  };
}

TEST(TunerPredicted, choices_of_the_model_are_these) {
  for (const Row& row : snapshot()) {
    const Problem problem = problem_of(row.collective, row.pes, row.line_ns, row.memory);
    EXPECT_EQ(choices(problem), row.choices)
        << name_of(row.collective) << ", " << row.pes << " PEs, " << row.line_ns << " ns, "
        << name_of(row.memory);
  }
}

TEST(TunerPredicted, the_record_of_a_prediction_says_so) {
  Problem problem = problem_of(Collective::Allreduce, 8, 220);
  problem.count = kMi;
  SelectorInput input;
  input.catalog = &library();
  const Explanation record = explain(problem, input, {});
  EXPECT_EQ(record.where, Where::Model);
  EXPECT_FALSE(record.evidence);
  ASSERT_TRUE(record.runner_up);
  EXPECT_GE(kModelMargin * record.runner_up->predicted_us, record.predicted_us);
  const std::string text = to_string(record);
  EXPECT_THAT(text, HasSubstr("chosen by   model: predicted by the cost model\n"));
  EXPECT_THAT(text, HasSubstr("measured    no: there is no rule for this problem\n"));
  EXPECT_THAT(text, HasSubstr("us (cost model, not measured)\n"));
  EXPECT_THAT(text, HasSubstr("excluded    one_line: takes at most 56 bytes\n"));
}

/// A file's figures decide where its rules do not.
TEST(TunerPredicted, slow_folds_lead_to_two_shots_earlier) {
  Problem problem = problem_of(Collective::Allreduce, 3, 45);
  problem.count = 2 * kKi;
  EXPECT_EQ(choice_of(chosen(problem)), "one_shot");
  MachineFacts file;
  file.fold_gbps = 5;
  EXPECT_EQ(choice_of(chosen(problem, &file)), "two_shot");
}

/// Nobody tests what a program's own algorithm says of its traffic.
TEST(TunerPredicted, a_programs_own_algorithm_is_not_chosen_where_the_library_has_one) {
  Algorithm mine = *library().find(Collective::Allreduce, "two_shot");
  mine.name = "mine";
  mine.traffic = [](const Problem&, const Params&, int) { return Traffic{}; };
  const std::array<const Algorithm*, 1> extra = {&mine};
  const Catalog with = builtin_catalog(extra);
  Problem problem = problem_of(Collective::Allreduce, 4, 45);
  problem.count = kMi;
  SelectorInput input;
  input.catalog = &with;
  EXPECT_STREQ(select(problem, input).algorithm->name, "two_shot");
  const Catalog alone(extra);
  input.catalog = &alone;
  EXPECT_STREQ(select(problem, input).algorithm->name, "mine");
}

}  // namespace
}  // namespace tutti::detail
