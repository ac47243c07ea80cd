// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/select.hpp"
#include "fake_algorithms.hpp"
#include "primitives/machine.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Problem allreduce_of(std::size_t count, int pes = 2) {
  Problem problem;
  problem.pes = pes;
  problem.count = count;
  return problem;
}

Rule rule_for(const Algorithm& algorithm, std::string_view origin = "t.json:3 rules[0]") {
  Rule rule;
  rule.collective = algorithm.collective;
  rule.algorithm = &algorithm;
  rule.params = initial_params(algorithm);
  rule.origin = origin;
  return rule;
}

TEST(TunerExplain, the_runner_up_is_the_fastest_of_the_others) {
  const std::vector<Rule> file = {rule_for(fake::kTwoShot)};
  SelectorInput input;
  input.catalog = &fake::catalog();
  input.file = file;
  const Explanation record = explain(allreduce_of(1024), input, {});
  ASSERT_TRUE(record.runner_up);
  EXPECT_EQ(record.runner_up->algorithm, &fake::kOneShot) << "ring comes later and is slower";
}

TEST(TunerExplain, tells_choice_runner_up_exclusions_and_evidence) {
  std::vector<Rule> file = {rule_for(fake::kTwoShot, "t.json:12 rules[3]")};
  file[0].evidence = Evidence{0.5, {0.49, 0.52}, 31, 1.12, "one_shot", {{1.21, 1.33}}};
  SelectorInput input;
  input.catalog = &fake::catalog();
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
  const MachineFacts here = {"EPYC", 2,  1024,    32768,   "avx2", 34.7,        36.1,
                             82.2,   41, "0.1.0", "4.1.4", "core", "2026-01-31"};
  MachineFacts same = here;
  same.copy_gbps = 1;
  same.cross_gbps = 1;
  same.fold_gbps = 1;
  same.line_ns = 300;
  same.tutti = "0.1.7";
  same.mpi = "5.0";
  same.binding = "none";
  same.date = "2020-01-01";
  EXPECT_THAT(differences(same, here), IsEmpty());
  EXPECT_THAT(differences(MachineFacts{}, here), IsEmpty());
  const MachineFacts other = {"Xeon", 64, 2048,    16384,   "avx2 avx512f", 34.7,        36.1,
                              82.2,   41, "0.1.0", "4.1.4", "core",         "2026-01-31"};
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

TEST(TunerMachine, a_fold_takes_time) {
  const double gbps = measure_fold_gbps();
  EXPECT_GT(gbps, 0.01);
  EXPECT_LT(gbps, 1e4);
}

TEST(TunerMachine, regimes_have_the_documented_borders) {
  EXPECT_EQ(regime_of(0), "unknown");
  EXPECT_EQ(regime_of(79), "near");
  EXPECT_EQ(regime_of(80), "mid");
  EXPECT_EQ(regime_of(150), "mid");
  EXPECT_EQ(regime_of(151), "far");
}

TEST(TunerMachine, the_facts_that_are_compared_survive_the_way_between_pes) {
  const MachineFacts machine = {
      "A CPU: \"fast\" ", 64, 2048, 98304, "avx2 avx512f", 1, 2, 3, 4, "v", "m", "b", "d"};
  const MachineFacts there = machine_from_text(machine_text(machine));
  EXPECT_THAT(differences(there, machine), IsEmpty());
  MachineFacts other = machine;
  other.l3_kib = 1;
  other.instruction_sets = "avx2";
  EXPECT_EQ(differences(machine_from_text(machine_text(other)), machine).size(), 2u);
  const MachineFacts unknown = machine_from_text(machine_text({}));
  EXPECT_EQ(unknown, MachineFacts{});
}

}  // namespace
}  // namespace tutti::detail
