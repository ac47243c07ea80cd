// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/cost.hpp"
#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "fake_algorithms.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::IsEmpty;

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
  EXPECT_EQ(unresolved.size(), built_in().size());
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
      {3, Memory::Private, 40, 512, "one_shot", "two_shot"},
      {4, Memory::Private, 200, 272, "one_shot", "two_shot"},
      {5, Memory::Private, 40, 56, "one_line", "one_shot"},
      {5, Memory::Private, 40, 240, "one_shot", "two_shot"},
      {8, Memory::Private, 40, 208, "one_shot", "two_shot"},
      {16, Memory::Private, 1, 176, "one_shot", "two_shot"},
      {17, Memory::Private, 100, 160, "one_shot", "two_shot"},
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

/// The sizes at which a choice of the built-in rules or a number of chunks may change, and their
/// neighbours.
std::set<std::size_t> telling_sizes(const std::vector<Rule>& rules) {
  std::set<std::size_t> sizes;
  const auto add = [&](std::size_t at) {
    for (std::size_t bytes = at < 2 ? 0 : at - 2; bytes <= at + 2; ++bytes) sizes.insert(bytes);
  };
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) add(bytes);
  for (std::size_t bytes = 512; bytes <= std::size_t{1} << 28; bytes *= 2) add(bytes);
  for (const Rule& rule : rules) {
    if (rule.bytes.low) add(*rule.bytes.low);
    if (rule.bytes.high) add(*rule.bytes.high);
  }
  return sizes;
}

/// Where one byte more changes the choice, the two choices cost about the same there by the cost
/// model. Private memory, and regimes that are known: the model does not know that stores into a
/// peer's tensor cross, and where nothing could be calibrated it has nothing to go by.
TEST(TunerBuiltin, neighbouring_sizes_never_fall_off_a_cliff) {
  const Catalog catalog = builtin_catalog();
  const std::vector<Rule> rules = builtin_rules(catalog);
  SelectorInput input;
  input.catalog = &catalog;
  input.built_in = rules;
  const std::set<std::size_t> sizes = telling_sizes(rules);
  int changes = 0;
  for (std::size_t facts = 0; facts < 4 * kCollectives; ++facts) {
    for (const int pes : {2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 64}) {
      Problem problem = allreduce_of(0, pes);
      problem.dtype = DType::U8;
      problem.collective = static_cast<Collective>(facts / 4);
      constexpr std::array<int, 4> kRegimes = {30, 79, 100, 250};
      problem.line_ns = kRegimes[facts % 4];
      Decision last = select(problem, input);
      for (const std::size_t bytes : sizes) {
        problem.count = bytes;
        Decision now = select(problem, input);
        if (now.hash != last.hash && why_not(*last.algorithm, problem) == nullptr) {
          ++changes;
          const CostModel model = cost_model({}, problem);
          const double before = predicted_us(*last.algorithm, last.params, problem, model);
          const double after = predicted_us(*now.algorithm, now.params, problem, model);
          EXPECT_LT(std::max(before, after), 1.25 * std::min(before, after))
              << describe(problem) << ": " << last.algorithm->name << " " << before << " us, "
              << now.algorithm->name << " " << after << " us";
        }
        last = std::move(now);
      }
    }
  }
  EXPECT_GE(changes, 4 * 9) << "every team of three or more changes to two shots";
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
