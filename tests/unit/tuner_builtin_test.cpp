// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "fake_algorithms.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Problem allreduce_of(std::size_t count, int pes = 2) {
  Problem problem;
  problem.pes = pes;
  problem.count = count;
  return problem;
}

const std::vector<Rule>& built_in() {
  static const std::vector<Rule> rules = builtin_rules(fake::catalog());
  return rules;
}

SelectorInput only_built_in() {
  SelectorInput input;
  input.catalog = &fake::catalog();
  input.built_in = built_in();
  return input;
}

std::string_view chosen(const Problem& problem) {
  return select(problem, only_built_in()).algorithm->name;
}

TEST(TunerBuiltin, all_built_in_rules_resolve) {
  std::vector<std::string> unresolved;
  builtin_rules(fake::catalog(), &unresolved);
  EXPECT_THAT(unresolved, IsEmpty());
  builtin_rules(Catalog(), &unresolved);
  EXPECT_GE(unresolved.size(), built_in().size() / 2) << "a row is one rule, or two";
}

TEST(TunerBuiltin, built_in_choices_change_at_their_thresholds_and_nowhere_else) {
  struct Step {
    int pes;
    Memory memory;
    int line_ns;
    std::size_t last;  ///< bytes
    const char* upto;
    const char* above;
  };
  constexpr std::size_t kMi = 1 << 20;
  const std::vector<Step> steps = {
      {2, Memory::Private, 40, 56, "one_line", "one_shot"},
      {2, Memory::Private, 40, 128 << 10, "one_shot", "two_shot"},
      {2, Memory::Private, 200, (256 << 10) - 1, "one_shot", "two_shot"},
      {4, Memory::Private, 0, 32 << 10, "one_shot", "two_shot"},
      {5, Memory::Private, 0, 56, "one_line", "one_shot"},
      {130, Memory::Private, 0, 16 << 10, "one_shot", "two_shot"},
      {2, Memory::Symmetric, 79, kMi / 2 - 1, "two_shot", "symmetric_push"},
      {2, Memory::Symmetric, 80, 16 * kMi - 1, "two_shot", "symmetric_push"},
  };
  for (const Step& step : steps) {
    Problem problem = allreduce_of(step.last, step.pes);
    problem.dtype = DType::U8;
    problem.memory = step.memory;
    problem.line_ns = step.line_ns;
    const auto at = [&](std::size_t bytes) {
      problem.count = bytes;
      return chosen(problem);
    };
    EXPECT_EQ(at(step.last - 1), step.upto) << describe(problem);
    EXPECT_EQ(at(step.last), step.upto) << describe(problem);
    EXPECT_EQ(at(step.last + 1), step.above) << describe(problem);
    EXPECT_EQ(at(step.last + 2), step.above) << describe(problem);
  }
}

/// Neither one PE nor one element more may fall off a cliff: for every team size and every count
/// up to four elements a PE, the choice changes at most once, and never back.
TEST(TunerBuiltin, choices_do_not_flap_between_neighbours) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (int pes = 1; pes <= 130; ++pes) {
      Problem problem = allreduce_of(0, pes);
      problem.collective = static_cast<Collective>(c);
      std::set<std::string_view> seen;
      std::string_view last;
      for (problem.count = 0; problem.count <= static_cast<std::size_t>(4 * pes); ++problem.count) {
        const std::string_view now = chosen(problem);
        if (now == last) continue;
        EXPECT_TRUE(seen.insert(now).second) << now << " comes back at " << describe(problem);
        last = now;
      }
      EXPECT_LE(seen.size(), 2u) << describe(problem);
    }
  }
}

TEST(TunerBuiltin, rules_are_about_two_pes_and_about_pes_that_share_cpus) {
  for (const Rule& rule : built_in()) {
    EXPECT_TRUE(rule.pes.high == 2u || rule.line_ns == Range({}, 0)) << rule.origin;
  }
  for (std::size_t c = 0; c < kCollectives; ++c) {
    Problem problem = allreduce_of(4096, 3);
    problem.collective = static_cast<Collective>(c);
    const auto where = [&](int pes, int line_ns) {
      problem.pes = pes;
      problem.line_ns = line_ns;
      return select(problem, only_built_in()).where;
    };
    EXPECT_EQ(where(2, 40), Where::BuiltIn) << describe(problem);
    EXPECT_EQ(where(2, 220), Where::BuiltIn) << describe(problem);
    EXPECT_EQ(where(8, 0), Where::BuiltIn) << describe(problem);
    EXPECT_EQ(where(3, 40), Where::Model) << describe(problem);
    EXPECT_EQ(where(64, 220), Where::Model) << describe(problem);
  }
}

/// Symmetric tensors of two PEs: pulling takes 2.4 to 3.7 times as long as staging past the caches.
TEST(TunerBuiltin, reduce_scatter_of_two_pes_far_apart_streams_at_every_large_size) {
  const Catalog catalog = builtin_catalog();
  const std::vector<Rule> rules = builtin_rules(catalog);
  SelectorInput input;
  input.catalog = &catalog;
  input.built_in = rules;
  Problem problem = allreduce_of(0);
  problem.collective = Collective::ReduceScatter;
  problem.memory = Memory::Symmetric;
  for (const std::size_t block : {1024, 512 << 10, 3 << 20, 16 << 20}) {
    problem.dtype = DType::U8;
    problem.count = block;
    problem.line_ns = 151;
    const Decision far = select(problem, input);
    EXPECT_THAT(tutti::describe(*far.algorithm, far.params), HasSubstr("store=stream"));
    EXPECT_STREQ(far.algorithm->name, "direct") << describe(problem);
    problem.line_ns = 150;
    const Decision mid = select(problem, input);
    EXPECT_THAT(tutti::describe(*mid.algorithm, mid.params), Not(HasSubstr("store=stream")));
  }
}

TEST(TunerBuiltin, every_rule_resolves_against_the_library_itself) {
  std::vector<std::string> unresolved;
  const Catalog catalog = builtin_catalog();
  const std::vector<Rule> rules = builtin_rules(catalog, &unresolved);
  EXPECT_THAT(unresolved, IsEmpty());
  EXPECT_EQ(rules.size(), built_in().size());
}

TEST(TunerBuiltin, the_library_solves_every_problem) {
  const Catalog catalog = builtin_catalog();
  const std::vector<Rule> rules = builtin_rules(catalog);
  SelectorInput input;
  input.catalog = &catalog;
  input.built_in = rules;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const int pes : {1, 2, 3, 4, 5, 64, 130}) {
      for (const std::size_t count : {0, 1, 14, 15, 4096, 1 << 20}) {
        for (unsigned facts = 0; facts < 8; ++facts) {
          Problem problem = allreduce_of(count, pes);
          problem.collective = static_cast<Collective>(c);
          problem.memory = facts & 1u ? Memory::Symmetric : Memory::Private;
          problem.contract = facts & 2u ? Contract::Ordered : Contract::Consistent;
          problem.reachable = (facts & 4u) == 0;
          const Explanation record = explain(problem, input, {});
          EXPECT_EQ(why_not(*record.algorithm, problem), nullptr) << describe(problem);
          EXPECT_GT(record.predicted_us, 0) << describe(problem);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::detail
