// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/tuner/choice.hpp"
#include "collectives/tuner/cost.hpp"
#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "support/fake_algorithms.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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

std::string_view chosen(const Problem& problem) {
  return select(problem, only_built_in()).algorithm->name;
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

TEST(TunerSelect, all_built_in_rules_resolve) {
  std::vector<std::string> unresolved;
  builtin_rules(fake::catalog(), &unresolved);
  EXPECT_THAT(unresolved, IsEmpty());
  builtin_rules(Catalog(), &unresolved);
  EXPECT_EQ(unresolved.size(), built_in().size());
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
                                       : Where::BuiltIn;
    EXPECT_EQ(decision.where, where) << present;
    if (present == 0) {
      EXPECT_EQ(decision.algorithm, &fake::kOneShot) << "the first that can";
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
  EXPECT_THAT(decision.warnings,
              ElementsAre(AllOf(StartsWith("t.json:3 rules[0]: one_line cannot"),
                                HasSubstr("more than 56 bytes; the rule is skipped")),
                          AllOf(StartsWith("t.json:4 rules[1]: symmetric_push cannot"),
                                HasSubstr("needs symmetric memory"))));
}

TEST(TunerSelect, a_built_in_rule_that_cannot_is_skipped_silently) {
  const std::vector<Rule> rules = {rule_for(fake::kOneLine), rule_for(fake::kTwoShot)};
  SelectorInput input = only_built_in();
  input.built_in = rules;
  const Decision decision = select(allreduce_of(100), input);
  EXPECT_EQ(decision.algorithm, &fake::kTwoShot);
  EXPECT_THAT(decision.warnings, IsEmpty());
}

TEST(TunerSelect, warnings_survive_the_last_resort) {
  const std::vector<Rule> file = {rule_for(fake::kOneLine)};
  SelectorInput input;
  input.catalog = &fake::catalog();
  input.file = file;
  const Decision decision = select(allreduce_of(100), input);
  EXPECT_EQ(decision.algorithm, &fake::kOneShot);
  EXPECT_EQ(decision.params, initial_params(fake::kOneShot));
  EXPECT_EQ(decision.warnings.size(), 1u);
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
  EXPECT_THAT(decision.warnings, ElementsAre(HasSubstr("'ordered'")));
  problem.contract = Contract::Consistent;
  EXPECT_EQ(select(problem, input).algorithm, &fake::kRing);
}

TEST(TunerSelect, a_problem_that_nothing_can_solve_lists_every_reason) {
  const std::vector<const Algorithm*> two = {&fake::kOneLine, &fake::kSymmetricPush};
  const Catalog catalog(two);
  SelectorInput input;
  input.catalog = &catalog;
  EXPECT_THAT(refusal([&] { select(allreduce_of(100), input); }, ErrorCode::Unsupported),
              HasSubstr("(one_line: more than 56 bytes; symmetric_push: needs symmetric memory)"));
}

TEST(TunerSelect, built_in_choices_change_at_their_thresholds_and_nowhere_else) {
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
      {4, Memory::Private, 200, kMi, "one_shot", "two_shot"},
      {5, Memory::Private, 40, 56, "one_line", "one_shot"},
      {5, Memory::Private, 40, 8192, "one_shot", "two_shot"},
      {130, Memory::Private, 0, 8192, "one_shot", "two_shot"},
      {2, Memory::Symmetric, 79, 16383, "one_shot", "symmetric_push"},
      {2, Memory::Symmetric, 80, kMi - 1, "one_shot", "symmetric_push"},
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
TEST(TunerSelect, choices_do_not_flap_between_neighbours) {
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

TEST(TunerSelect, keys_differ_where_problems_differ) {
  const Problem base = allreduce_of(100, 3);
  std::vector<Problem> all(11, base);
  all[1].collective = Collective::Broadcast;
  all[2].dtype = DType::U64;
  all[3].op = Op::Xor;
  all[4].memory = Memory::Symmetric;
  all[5].contract = Contract::Ordered;
  all[6].reachable = false;
  all[7].pes = 65536;
  all[8].nodes = 65536;
  all[9].line_ns = 100'000;
  all[10].count = std::size_t{1} << 40;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(key_of(all[i]) == key_of(all[j]), i == j) << i << " " << j;
    }
  }
  static_assert(sizeof(DecisionKey) == 16);
}

TEST(TunerSelect, the_cache_returns_what_was_selected) {
  DecisionCache cache;
  EXPECT_EQ(cache.find(key_of(Problem{})), nullptr);
  for (std::size_t count = 0; count < 200; ++count) {
    const Problem problem = allreduce_of(count * 97, 3);
    const DecisionKey key = key_of(problem);
    EXPECT_EQ(cache.find(key), nullptr);
    cache.insert(key, select(problem, only_built_in()));
    ASSERT_NE(cache.find(key), nullptr);
    EXPECT_EQ(cache.find(key)->algorithm->name, chosen(problem));
  }
  cache.clear();
  EXPECT_EQ(cache.find(key_of(allreduce_of(199 * 97, 3))), nullptr);
}

TEST(TunerForced, reads_every_part_of_the_form) {
  const std::vector<Forced> forced = parse_forced(
      " allreduce = two_shot : chunk_bytes = 64K ; allgather=ring;", "X", fake::catalog());
  ASSERT_EQ(forced.size(), 2u);
  EXPECT_EQ(forced[0].algorithm, &fake::kTwoShot);
  EXPECT_EQ(forced[0].params[0], 65536);
  EXPECT_EQ(forced[1].collective, Collective::Allgather);
  EXPECT_EQ(forced[1].algorithm, &fake::kAllgatherRing);
  EXPECT_THAT(parse_forced("", "X", fake::catalog()), IsEmpty());
}

TEST(TunerForced, describes_what_it_reads) {
  const Forced forced =
      parse_choice(Collective::Allreduce, "one_shot:store=stream,bias=-3", "X", fake::catalog());
  const std::string text = tutti::describe(*forced.algorithm, forced.params);
  EXPECT_EQ(text, "one_shot:slots=2,chunk_bytes=65536,store=stream,bias=-3");
  EXPECT_EQ(parse_choice(Collective::Allreduce, text, "X", fake::catalog()), forced);
}

TEST(TunerForced, refuses_everything_else) {
  const auto why = [](const char* text) {
    return refusal([&] { parse_forced(text, "TUTTI_ALGORITHM", fake::catalog()); });
  };
  EXPECT_THAT(why("ring"), StartsWith("TUTTI_ALGORITHM: 'ring' names no collective; the form is"));
  EXPECT_THAT(why("ring:chunk_bytes=1K"), HasSubstr("names no collective"));
  EXPECT_THAT(why("allreduc=ring"), HasSubstr("did you mean 'allreduce'?"));
  EXPECT_THAT(why("allreduce=rings"), HasSubstr("did you mean 'ring'?"));
  EXPECT_THAT(why("allreduce="), HasSubstr("unknown algorithm of allreduce ''"));
  EXPECT_THAT(why("allreduce=ring;allreduce=ring"), HasSubstr("allreduce is given twice"));
  EXPECT_THAT(why("allreduce=one_shot:slots=1,slots=2"), HasSubstr("slots is given twice"));
  EXPECT_THAT(why("allreduce=one_shot:slot=1"), HasSubstr("did you mean 'slots'?"));
  EXPECT_THAT(why("allreduce=one_shot:"), HasSubstr("'' has no '='"));
  EXPECT_THAT(why("allreduce=one_shot:slots"), HasSubstr("'slots' has no '='"));
  EXPECT_THAT(why("allreduce=one_shot:slots=65"),
              HasSubstr("one_shot.slots: 65 is out of range; allowed: 1 to 64"));
  EXPECT_THAT(why("allreduce=one_shot:slots=1K"), HasSubstr("'1K': not a whole number"));
  EXPECT_THAT(why("allreduce=one_shot:chunk_bytes=4294967297"), HasSubstr("is out of range"));
  EXPECT_THAT(why("allreduce=one_shot:store=strem"), HasSubstr("did you mean 'stream'?"));
}

TEST(TunerCatalog, refuses_descriptors_that_are_wrong) {
  constexpr std::array kTwice = {Parameter{"slots", 0, 1, 0, "", {}},
                                 Parameter{"slots", 0, 1, 0, "", {}}};
  constexpr std::array kOutside = {Parameter{"slots", 1, 2, 3, "", {}}};
  constexpr std::array kChoices = {Parameter{"store", 0, 2, 0, "", fake::kStores}};
  const auto why = [](auto change) {
    Algorithm algorithm = fake::kRing;
    algorithm.name = "mine";
    change(algorithm);
    Catalog catalog(fake::kAll);
    return refusal([&] { catalog.add(algorithm); }, ErrorCode::InvalidArgument);
  };
  EXPECT_EQ(why([](Algorithm&) {}), "not refused");
  EXPECT_THAT(why([](Algorithm& a) { a.name = "ring"; }), HasSubstr("two algorithms ring"));
  EXPECT_THAT(why([](Algorithm& a) { a.name = "My-Ring"; }), HasSubstr("snake_case"));
  EXPECT_THAT(why([](Algorithm& a) { a.traffic = nullptr; }), HasSubstr("is missing"));
  EXPECT_THAT(why([&](Algorithm& a) { a.parameters = kTwice; }), HasSubstr("named slots"));
  EXPECT_THAT(why([&](Algorithm& a) { a.parameters = kOutside; }), HasSubstr("1, 3, 2"));
  EXPECT_THAT(why([&](Algorithm& a) { a.parameters = kChoices; }), HasSubstr("2 choices"));
}

TEST(TunerCost, grows_with_bytes_and_with_distance) {
  Problem problem = allreduce_of(1 << 20, 4);
  MachineFacts machine;
  machine.copy_gbps = 30;
  const auto predict = [&](int line_ns, std::size_t count) {
    problem.line_ns = line_ns;
    problem.count = count;
    return predicted_us(fake::kTwoShot, {}, problem, cost_model(machine, problem));
  };
  EXPECT_LT(predict(40, 1), predict(200, 1));
  EXPECT_LT(predict(40, 1), predict(40, 1 << 20));
  EXPECT_LT(predict(40, 1 << 20), predict(200, 1 << 20));
}

TEST(TunerExplain, tells_choice_runner_up_exclusions_and_evidence) {
  std::vector<Rule> file = {rule_for(fake::kTwoShot, "t.json:12 rules[3]")};
  file[0].evidence = Evidence{0.5, {0.49, 0.52}, 31, 1.12, "one_shot", {{1.21, 1.33}}};
  SelectorInput input = only_built_in();
  input.file = file;
  Problem problem = allreduce_of(1024);
  problem.contract = Contract::Ordered;
  problem.line_ns = 45;
  const Explanation record = explain(problem, input, {});
  EXPECT_EQ(record.algorithm, &fake::kTwoShot);
  EXPECT_EQ(record.where, Where::File);
  EXPECT_GT(record.predicted_us, 0);
  ASSERT_TRUE(record.runner_up);
  EXPECT_EQ(record.runner_up->algorithm, &fake::kOneShot);
  ASSERT_EQ(record.excluded.size(), 3u);
  EXPECT_EQ(record.excluded[2].name, "ring");
  const std::string text = to_string(record);
  for (const char* part : {"allreduce of 4096 bytes", "(near)", "two_shot:chunk_bytes=32768",
                           "file: t.json:12 rules[3]", "0.5 us (0.49 to 0.52, 31 rounds)",
                           "one_shot, predicted", "one_line: more than 56 bytes",
                           "symmetric_push: needs symmetric memory", "ring: it does not keep"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(TunerMachine, differs_only_in_what_decides_speed) {
  const MachineFacts here = {"EPYC", 2,       1024,    32768,  "avx2",      34.7,
                             41,     "0.1.0", "4.1.4", "core", "2026-01-31"};
  MachineFacts same = here;
  same.copy_gbps = 1;
  same.line_ns = 300;
  same.tutti = "0.1.7";
  same.mpi = "5.0";
  same.binding = "none";
  same.date = "2020-01-01";
  EXPECT_THAT(differences(same, here), IsEmpty());
  EXPECT_THAT(differences(MachineFacts{}, here), IsEmpty());
  const MachineFacts other = {"Xeon", 64,      2048,    16384,  "avx2 avx512f", 34.7,
                              41,     "0.1.0", "4.1.4", "core", "2026-01-31"};
  EXPECT_THAT(
      differences(other, here),
      ElementsAre("cpu: 'Xeon' in the file, 'EPYC' here", "cores: 64 in the file, 2 here",
                  "l2_kib: 2048 in the file, 1024 here", "l3_kib: 16384 in the file, 32768 here",
                  "instruction_sets: 'avx2 avx512f' in the file, 'avx2' here"));
}

TEST(TunerMachine, a_file_for_other_numbers_of_pes_differs) {
  Tuning file;
  file.rules = {rule_for(fake::kRing), rule_for(fake::kOneShot)};
  file.rules[0].pes = {2, 2};
  file.rules[1].pes = {4, 8};
  EXPECT_THAT(differences(file, {}, 2), IsEmpty());
  EXPECT_THAT(differences(file, {}, 8), IsEmpty());
  EXPECT_THAT(differences(file, {}, 0), IsEmpty());
  EXPECT_THAT(differences(file, {}, 3), ElementsAre("pes: no rule of the file is about 3 PEs"));
}

TEST(TunerMachine, this_machine_knows_itself) {
  const MachineFacts here = this_machine();
  EXPECT_FALSE(here.cpu.empty());
  EXPECT_GE(here.cores, 1u);
  EXPECT_FALSE(here.tutti.empty());
  EXPECT_EQ(here.date.size(), std::string_view("2026-01-31T12:00:00Z").size());
  EXPECT_THAT(differences(here, this_machine()), IsEmpty());
}

TEST(TunerMachine, regimes_have_the_documented_borders) {
  EXPECT_EQ(regime_of(0), "unknown");
  EXPECT_EQ(regime_of(79), "near");
  EXPECT_EQ(regime_of(80), "mid");
  EXPECT_EQ(regime_of(150), "mid");
  EXPECT_EQ(regime_of(151), "far");
}

}  // namespace
}  // namespace tutti::detail
