// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "bench/tune/diff.hpp"
#include "bench/tune/kinds.hpp"
#include "tune_points.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Tuning with_rules(const std::string& rules) {
  return parse_tuning(R"({"tutti_tuning": 1, "rules": [)" + rules + "]}", "t.json");
}

/// What is examined, of one fact.
template <class Fact>
std::set<Fact> examined(const Tuning& file, Fact Problem::*fact) {
  std::vector<const Rule*> rules;
  for (const Rule& rule : file.rules) rules.push_back(&rule);
  std::set<Fact> all;
  for (const Problem& kind : kinds_of(rules, false)) all.insert(kind.*fact);
  return all;
}

TEST(TuneKinds, types_that_no_rule_names_are_examined_beside_those_that_are) {
  const Tuning one = with_rules(R"({"collective": "allreduce", "dtype": "f64", "algorithm": "ring"},
                                   {"collective": "allreduce", "algorithm": "two_shot"})");
  EXPECT_THAT(examined(one, &Problem::dtype), ElementsAre(DType::F32, DType::F64));
  const Tuning other = with_rules(R"({"collective": "allreduce", "dtype": "f32", "op": "sum",
                                      "algorithm": "ring"},
                                     {"collective": "allreduce", "algorithm": "two_shot"})");
  EXPECT_THAT(examined(other, &Problem::dtype), ElementsAre(DType::F32, DType::BF16));
  EXPECT_THAT(examined(other, &Problem::op), ElementsAre(Op::Sum, Op::Max));
}

TEST(TuneKinds, only_problems_that_there_are) {
  const Tuning file = with_rules(R"({"collective": "allreduce", "op": "and", "algorithm": "ring"},
      {"collective": "reduce", "dtype": "user", "algorithm": "direct"},
      {"collective": "allreduce", "dtype": "i32", "pes": [2, 2], "nodes": [1, 3],
       "algorithm": "ring"})");
  std::vector<const Rule*> rules;
  for (const Rule& rule : file.rules) rules.push_back(&rule);
  bool user = false;
  for (const Problem& kind : kinds_of(rules, false)) {
    EXPECT_TRUE(has_meaning(kind)) << name_of(kind.dtype) << " " << name_of(kind.op);
    EXPECT_LE(kind.nodes, kind.pes);
    user = user || kind.dtype == DType::User;
  }
  EXPECT_TRUE(user) << "a rule is about them";
}

TEST(TuneKinds, numbers_of_pes_inside_open_ranges_and_behind_closed_ones) {
  const auto pes = [](const std::string& range) {
    return examined(
        with_rules(R"({"collective": "allreduce", "algorithm": "ring", "pes": )" + range + "}"),
        &Problem::pes);
  };
  EXPECT_THAT(pes("[2, 2]"), ElementsAre(2));
  EXPECT_THAT(pes("[3, 6]"), ElementsAre(3, 4, 6));
  EXPECT_THAT(pes("[null, null]"), ElementsAre(2, 3, 4, 8));
  EXPECT_THAT(pes("[16, null]"), ElementsAre(16));
  const Tuning two = with_rules(R"({"collective": "allreduce", "pes": [2, 12], "algorithm": "ring"},
                                   {"collective": "allreduce", "algorithm": "two_shot"})");
  EXPECT_THAT(examined(two, &Problem::pes), ElementsAre(2, 3, 4, 8, 12, 13));
}

TEST(TuneKinds, every_regime_and_every_stretch_between_the_ends_of_ranges) {
  const auto lines = [](const std::string& range) {
    return examined(
        with_rules(R"({"collective": "allreduce", "algorithm": "ring", "line_ns": )" + range + "}"),
        &Problem::line_ns);
  };
  EXPECT_THAT(lines("[0, 79]"), ElementsAre(0, 40, 100, 200));
  EXPECT_THAT(lines("[0, 30]"), ElementsAre(0, 1, 40, 100, 200));
  EXPECT_THAT(lines("[110, 120]"), ElementsAre(0, 40, 100, 110, 200));
  EXPECT_THAT(lines("[300, null]"), ElementsAre(0, 40, 100, 200, 300));
}

Tuning with_rule(const std::string& choice, Range bytes) {
  Rule rule;
  const Forced forced = parse_choice(Collective::Allreduce, choice, "test");
  rule.pes = {2, 2};
  rule.nodes = {1, 1};
  rule.bytes = bytes;
  rule.line_ns = {0, 79};
  rule.memory = Memory::Private;
  rule.algorithm = forced.algorithm;
  rule.params = forced.params;
  Tuning tuning;
  tuning.rules = {rule};
  return tuning;
}

/// Of the regime that is measured most; what is not known counts as near.
std::vector<Change> near_changes(const Tuning& before, const Tuning& after) {
  std::vector<Change> all = changes(before, after);
  std::erase_if(all, [](const Change& each) { return each.problem.line_ns == 0; });
  return all;
}

TEST(TuneDiff, equal_files_change_nothing) {
  const Tuning file = with_rule("ring", {1000, 9000});
  EXPECT_TRUE(changes(file, file).empty());
}

TEST(TuneDiff, finds_what_changes_for_a_type_that_only_a_rule_for_all_is_about) {
  const Tuning before = with_rules(R"({"collective": "allreduce", "dtype": "f64", "pes": [2, 2],
                                       "bytes": [1024, 4096], "algorithm": "ring"})");
  const Tuning after = with_rules(R"({"collective": "allreduce", "pes": [2, 2],
                                      "bytes": [1024, 4096], "algorithm": "two_shot"})");
  std::set<DType> types;
  for (const Change& change : changes(before, after)) types.insert(change.problem.dtype);
  EXPECT_THAT(types, ElementsAre(DType::F32, DType::F64));
}

TEST(TuneDiff, finds_what_changes_where_the_regime_is_not_known) {
  const std::vector<Change> all =
      changes({}, with_rules(R"({"collective": "allreduce", "line_ns": [0, 0], "pes": [2, 2],
                                 "bytes": [1024, 4096], "algorithm": "two_shot"})"));
  ASSERT_THAT(all, Not(IsEmpty()));
  for (const Change& change : all) EXPECT_EQ(change.problem.line_ns, 0);
}

TEST(TuneDiff, says_for_which_sizes_the_choice_changes) {
  const std::vector<Change> all = near_changes({}, with_rule("ring", {1000, 9000}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].low, 1000u);
  EXPECT_EQ(all[0].high, 9000u);
  EXPECT_THAT(all[0].before, HasSubstr("one_shot"));
  EXPECT_THAT(all[0].after, HasSubstr("ring"));
  EXPECT_FALSE(all[0].measured);
}

TEST(TuneDiff, bits_do_not_change_between_algorithms_that_keep_the_order) {
  const std::vector<Change> all = near_changes({}, with_rule("two_shot", {1000, 9000}));
  ASSERT_EQ(all.size(), 2u) << "both contracts";
  for (const Change& change : all) EXPECT_FALSE(change.bits_may_change);
}

/// For how many PEs, types and operations bits may change if a ring folds instead.
std::set<std::string> kinds_with_other_bits(const std::string& facts) {
  const Tuning after = with_rules(R"({"collective": "allreduce", "algorithm": "ring", )" + facts +
                                  R"(, "bytes": [1024, 4096]})");
  std::set<std::string> kinds;
  for (const Change& change : changes({}, after)) {
    const Problem& problem = change.problem;
    if (!change.bits_may_change) continue;
    EXPECT_EQ(problem.contract, Contract::Consistent);
    kinds.insert(std::to_string(problem.pes) + ' ' + std::string(name_of(problem.dtype)) + ' ' +
                 std::string(name_of(problem.op)));
  }
  return kinds;
}

TEST(TuneDiff, bits_may_change_where_a_rounding_operation_has_more_than_two_operands) {
  EXPECT_THAT(kinds_with_other_bits(R"("pes": [2, 3])"), ElementsAre("3 f32 sum"));
  EXPECT_THAT(kinds_with_other_bits(R"("pes": [3, 3], "op": "max")"), IsEmpty());
  EXPECT_THAT(kinds_with_other_bits(R"("pes": [3, 3], "op": "prod", "dtype": "bf16")"),
              ElementsAre("3 bf16 prod"));
  EXPECT_THAT(kinds_with_other_bits(R"("pes": [3, 3], "dtype": "i32")"), IsEmpty());
  EXPECT_THAT(kinds_with_other_bits(R"("pes": [2, 2], "dtype": "user", "op": "user")"),
              ElementsAre("2 user user"))
      << "nobody knows what the operation does with two operands";
}

TEST(TuneDiff, the_gain_is_the_mean_over_the_cycles_that_both_have) {
  Tuning after = with_rule("ring", {1000, 9000});
  MeasuredPoint point = point_of(4096, {{"one_shot", 1.5}, {"ring", 1.0}});
  const auto time = [](Cycle cycle, double us) { return CycleTime{cycle, {us, us, us}}; };
  point.candidates[0].times = {time(Cycle::Same, 4), time(Cycle::Rotate, 9),
                               time(Cycle::Skew, 100)};
  point.candidates[1].times = {time(Cycle::Rotate, 1), time(Cycle::Same, 1)};
  after.points = {point};
  const std::vector<Change> all = near_changes({}, after);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].measured);
  EXPECT_NEAR(all[0].gain, 6, 1e-9);
}

TEST(TuneDiff, the_gain_is_measured_where_a_file_has_points) {
  Tuning after = with_rule("ring", {1000, 9000});
  after.points = {point_of(4096, {{"one_shot", 1.5}, {"ring", 1.0}})};
  const std::vector<Change> all = near_changes({}, after);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].measured);
  EXPECT_NEAR(all[0].gain, 1.5, 1e-9);
}

}  // namespace
}  // namespace tutti::tests
