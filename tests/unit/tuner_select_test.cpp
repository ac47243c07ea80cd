// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/tuner/choice.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "fake_algorithms.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Problem allreduce_of(std::size_t count, int pes = 2) {
  Problem problem;
  problem.pes = pes;
  problem.count = count;
  return problem;
}

Rule rule_for(const Algorithm& algorithm, std::string origin = "t.json:3 rules[0]") {
  Rule rule;
  rule.collective = algorithm.collective;
  rule.algorithm = &algorithm;
  rule.params = initial_params(algorithm);
  rule.origin = std::move(origin);
  return rule;
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

template <class Call>
std::string refusal(Call&& call, ErrorCode code = ErrorCode::Tuning) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "not refused";
}

/// Each level names its own algorithm and parameter, in all 16 combinations of present and absent.
TEST(TunerSelect, call_beats_environment_beats_file_beats_built_in) {
  const Forced call =
      parse_choice(Collective::Allreduce, "one_shot:slots=3", "call", fake::catalog());
  const std::vector<Forced> environment =
      parse_forced("allgather=ring;allreduce=one_shot:slots=4", "TUTTI_ALGORITHM", fake::catalog());
  std::vector<Rule> file = {rule_for(fake::kOneShot)};
  file[0].params[0] = 5;
  std::vector<Rule> built_in_rules = {rule_for(fake::kOneShot, "built-in rules[0]")};
  built_in_rules[0].params[0] = 6;
  for (unsigned present = 0; present < 16; ++present) {
    SelectorInput input;
    input.catalog = &fake::catalog();
    if (present & 1u) input.call = &call;
    if (present & 2u) input.environment = environment;
    if (present & 4u) input.file = file;
    if (present & 8u) input.built_in = built_in_rules;
    const Decision decision = select(allreduce_of(1024), input);
    const std::int64_t slots = present & 1u ? 3 : present & 2u ? 4 : present & 4u ? 5 : 6;
    const Where where = present & 1u   ? Where::Call
                        : present & 2u ? Where::Environment
                        : present & 4u ? Where::File
                        : present & 8u ? Where::BuiltIn
                                       : Where::Model;
    EXPECT_EQ(decision.where, where) << present;
    if (present == 0) {
      EXPECT_EQ(decision.algorithm, &fake::kOneShot) << "the simplest of those that take least";
      continue;
    }
    EXPECT_EQ(decision.params[0], slots) << present;
  }
}

TEST(TunerSelect, a_decision_names_its_origin) {
  SelectorInput input = only_built_in();
  EXPECT_EQ(select(allreduce_of(1), input).origin, "built-in rules[0]");
  const std::vector<Rule> file = {rule_for(fake::kTwoShot, "t.json:12 rules[3]")};
  input.file = file;
  const Decision decision = select(allreduce_of(1), input);
  EXPECT_EQ(decision.origin, "t.json:12 rules[3]");
  EXPECT_EQ(decision.rule, &file[0]);
}

TEST(TunerSelect, the_first_rule_that_matches_wins) {
  std::vector<Rule> file = {rule_for(fake::kRing), rule_for(fake::kTwoShot),
                            rule_for(fake::kOneShot)};
  file[0].bytes = {513, 8192};
  SelectorInput input = only_built_in();
  input.file = file;
  EXPECT_EQ(select(allreduce_of(128), input).algorithm, &fake::kTwoShot);   // 512 bytes
  EXPECT_EQ(select(allreduce_of(129), input).algorithm, &fake::kRing);      // 516
  EXPECT_EQ(select(allreduce_of(2048), input).algorithm, &fake::kRing);     // 8192
  EXPECT_EQ(select(allreduce_of(2049), input).algorithm, &fake::kTwoShot);  // 8196
}

TEST(TunerSelect, every_key_of_a_rule_is_looked_at) {
  Problem problem = allreduce_of(100, 4);
  problem.nodes = 2;
  problem.line_ns = 50;
  const Rule open = rule_for(fake::kOneShot);
  EXPECT_TRUE(open.matches(problem));
  const auto with = [&](auto change) {
    Rule rule = open;
    change(rule);
    return rule.matches(problem);
  };
  EXPECT_TRUE(with([](Rule& r) { r.pes = {4, 4}; }));
  EXPECT_FALSE(with([](Rule& r) { r.pes = {5, {}}; }));
  EXPECT_FALSE(with([](Rule& r) { r.pes = {{}, 3}; }));
  EXPECT_TRUE(with([](Rule& r) { r.nodes = {2, 2}; }));
  EXPECT_FALSE(with([](Rule& r) { r.nodes = {1, 1}; }));
  EXPECT_TRUE(with([](Rule& r) { r.bytes = {400, 400}; }));
  EXPECT_FALSE(with([](Rule& r) { r.bytes = {401, {}}; }));
  EXPECT_FALSE(with([](Rule& r) { r.bytes = {{}, 399}; }));
  EXPECT_TRUE(with([](Rule& r) { r.line_ns = {50, 50}; }));
  EXPECT_FALSE(with([](Rule& r) { r.line_ns = {51, {}}; }));
  EXPECT_FALSE(with([](Rule& r) { r.dtype = DType::I32; }));
  EXPECT_FALSE(with([](Rule& r) { r.op = Op::Max; }));
  EXPECT_FALSE(with([](Rule& r) { r.memory = Memory::Symmetric; }));
  EXPECT_FALSE(with([](Rule& r) { r.contract = Contract::Ordered; }));
  EXPECT_FALSE(with([](Rule& r) { r.collective = Collective::Broadcast; }));
}

TEST(TunerSelect, operation_and_contract_do_not_matter_where_nothing_is_reduced) {
  Problem problem = allreduce_of(100, 4);
  problem.collective = Collective::Allgather;
  Rule rule = rule_for(fake::kAllgatherRing);
  rule.op = Op::Max;
  rule.contract = Contract::Ordered;
  EXPECT_TRUE(rule.matches(problem));
  problem.contract = Contract::Ordered;
  EXPECT_EQ(why_not(fake::kAllgatherRing, problem), nullptr);
}

TEST(TunerSelect, size_is_bytes_of_the_whole_vector_or_of_all_blocks) {
  Problem f32 = allreduce_of(2000);
  Problem f64 = allreduce_of(1000);
  f64.dtype = DType::F64;
  Rule rule = rule_for(fake::kOneShot);
  rule.bytes = {8000, 8000};
  EXPECT_TRUE(rule.matches(f32));
  EXPECT_TRUE(rule.matches(f64));
  Problem gather = allreduce_of(1000, 2);
  gather.collective = Collective::Allgather;
  rule.collective = Collective::Allgather;
  EXPECT_TRUE(rule.matches(gather));
}

TEST(TunerSelect, a_forced_choice_that_cannot_is_an_error_with_reason_and_alternatives) {
  const Forced call = parse_choice(Collective::Allreduce, "one_line", "call", fake::catalog());
  SelectorInput input = only_built_in();
  input.call = &call;
  EXPECT_EQ(refusal([&] { select(allreduce_of(15), input); }),
            "call: one_line cannot solve allreduce of 60 bytes (15 f32 sum), private, consistent, "
            "2 PEs on 1 node, line 0 ns: more than 56 bytes; algorithms that can: one_shot, "
            "two_shot, ring");
  EXPECT_EQ(select(allreduce_of(14), input).algorithm, &fake::kOneLine);
  Problem broadcast = allreduce_of(1);
  broadcast.collective = Collective::Broadcast;
  EXPECT_THAT(refusal([&] { select(broadcast, input); }),
              HasSubstr("one_line is an algorithm of allreduce"));
}

TEST(TunerSelect, the_environment_is_as_strict_as_the_call) {
  const std::vector<Forced> environment =
      parse_forced("allreduce=symmetric_push", "TUTTI_ALGORITHM", fake::catalog());
  SelectorInput input = only_built_in();
  input.environment = environment;
  EXPECT_THAT(refusal([&] { select(allreduce_of(1), input); }),
              AllOf(StartsWith("TUTTI_ALGORITHM: symmetric_push cannot"),
                    HasSubstr("needs symmetric memory")));
}

TEST(TunerSelect, a_rule_of_the_file_that_cannot_is_skipped_with_a_warning) {
  const std::vector<Rule> file = {rule_for(fake::kOneLine, "t.json:3 rules[0]"),
                                  rule_for(fake::kSymmetricPush, "t.json:4 rules[1]"),
                                  rule_for(fake::kTwoShot, "t.json:5 rules[2]")};
  SelectorInput input = only_built_in();
  input.file = file;
  const Decision decision = select(allreduce_of(100), input);
  EXPECT_EQ(decision.origin, "t.json:5 rules[2]");
  ASSERT_EQ(decision.skipped.size(), 2u);
  EXPECT_EQ(decision.skipped[0].rule, &file[0]);
  EXPECT_THAT(decision.skipped[0].reason,
              AllOf(StartsWith("t.json:3 rules[0]: one_line cannot"),
                    HasSubstr("more than 56 bytes; the rule is skipped")));
  EXPECT_EQ(decision.skipped[1].rule, &file[1]);
  EXPECT_THAT(decision.skipped[1].reason,
              AllOf(StartsWith("t.json:4 rules[1]: symmetric_push cannot"),
                    HasSubstr("needs symmetric memory")));
}

TEST(TunerSelect, a_built_in_rule_that_cannot_is_skipped_silently) {
  const std::vector<Rule> rules = {rule_for(fake::kOneLine), rule_for(fake::kTwoShot)};
  SelectorInput input = only_built_in();
  input.built_in = rules;
  const Decision decision = select(allreduce_of(100), input);
  EXPECT_EQ(decision.algorithm, &fake::kTwoShot);
  EXPECT_TRUE(decision.skipped.empty());
}

TEST(TunerSelect, warnings_survive_the_last_resort) {
  const std::vector<Rule> file = {rule_for(fake::kOneLine)};
  SelectorInput input;
  input.catalog = &fake::catalog();
  input.file = file;
  const Decision decision = select(allreduce_of(100), input);
  EXPECT_EQ(decision.algorithm, &fake::kOneShot);
  EXPECT_EQ(decision.params, initial_params(fake::kOneShot));
  EXPECT_EQ(decision.skipped.size(), 1u);
}

TEST(TunerSelect, ordered_excludes_what_does_not_keep_it) {
  Problem problem = allreduce_of(100);
  problem.contract = Contract::Ordered;
  const Forced ring = parse_choice(Collective::Allreduce, "ring", "call", fake::catalog());
  SelectorInput input = only_built_in();
  input.call = &ring;
  EXPECT_THAT(refusal([&] { select(problem, input); }),
              HasSubstr("it does not keep the contract 'ordered'; algorithms that can: one_shot, "
                        "two_shot"));
  const std::vector<Rule> file = {rule_for(fake::kRing)};
  input.call = nullptr;
  input.file = file;
  const Decision decision = select(problem, input);
  EXPECT_EQ(decision.algorithm, &fake::kOneShot);
  ASSERT_EQ(decision.skipped.size(), 1u);
  EXPECT_THAT(decision.skipped[0].reason, HasSubstr("'ordered'"));
  problem.contract = Contract::Consistent;
  EXPECT_EQ(select(problem, input).algorithm, &fake::kRing);
}

TEST(TunerSelect, an_operation_that_does_not_commute_excludes_what_does_not_keep_the_order) {
  Problem problem = allreduce_of(1000, 4);
  problem.dtype = DType::User;
  problem.op = Op::User;
  problem.element_bytes = 32;
  Algorithm algorithm = *algorithms(Collective::Allreduce).front();
  algorithm.supports = [](const Problem&) -> const char* { return nullptr; };
  for (const bool ordered : {false, true}) {
    for (const bool order : {false, true}) {
      algorithm.keeps_ordered = ordered;
      algorithm.keeps_order = order;
      problem.commutative = true;
      EXPECT_EQ(why_not(algorithm, problem), nullptr);
      problem.commutative = false;
      EXPECT_EQ(why_not(algorithm, problem) == nullptr, ordered || order);
    }
  }
  EXPECT_THAT(describe(problem), HasSubstr("32000 bytes (1000 user of 32 bytes, not commutative)"));
}

TEST(TunerSelect, a_problem_that_nothing_can_solve_lists_every_reason) {
  const std::vector<const Algorithm*> two = {&fake::kOneLine, &fake::kSymmetricPush};
  const Catalog catalog(two);
  SelectorInput input;
  input.catalog = &catalog;
  EXPECT_THAT(refusal([&] { select(allreduce_of(100), input); }, ErrorCode::Unsupported),
              HasSubstr("(one_line: more than 56 bytes; symmetric_push: needs symmetric memory)"));
}

TEST(TunerSelect, equal_problems_get_equal_decisions_and_hashes) {
  SelectorInput input = only_built_in();
  const Decision one = select(allreduce_of(100), input);
  const Decision two = select(allreduce_of(100), input);
  EXPECT_EQ(one.hash, two.hash);
  std::set<std::uint64_t> hashes;
  for (const char* choice : {"one_shot", "one_shot:slots=3", "one_shot:store=stream", "two_shot",
                             "ring", "one_shot:bias=-1"}) {
    const Forced call = parse_choice(Collective::Allreduce, choice, "call", fake::catalog());
    input.call = &call;
    EXPECT_TRUE(hashes.insert(select(allreduce_of(100), input).hash).second) << choice;
  }
}

}  // namespace
}  // namespace tutti::detail
