// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/json.hpp"
#include "fake_algorithms.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::StartsWith;

Tuning parse(std::string_view text) { return parse_tuning(text, "t.json", fake::catalog()); }

std::string refusal(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Tuning) << error.what();
    return error.what();
  }
  return "not refused";
}

std::string with_rule(const std::string& rule) {
  return "{\"tutti_tuning\": 1,\n \"rules\": [\n" + rule + "]}";
}

Params params_of(const std::string& params) {
  const std::string rule =
      R"({"collective":"allreduce","algorithm":"one_shot","params":)" + params + "}";
  return parse(with_rule(rule)).rules.at(0).params;
}

Rule full_rule() {
  Rule rule;
  rule.collective = Collective::ReduceScatter;
  rule.pes = {2, 3};
  rule.nodes = {1, 4};
  rule.bytes = {513, std::numeric_limits<std::uint64_t>::max()};
  rule.line_ns = {7, 80};
  rule.dtype = DType::BF16;
  rule.op = Op::Max;
  rule.memory = Memory::Symmetric;
  rule.contract = Contract::Ordered;
  rule.algorithm = &fake::kReduceScatterRing;
  rule.evidence = Evidence{0.1, {0.09, 0.3}, 31, 1.12, "direct", {{1.21, 1.33}}, 4096};
  return rule;
}

MeasuredPoint full_point() {
  MeasuredPoint point;
  point.collective = Collective::ReduceScatter;
  point.pes = 3;
  point.bytes = 9007199254740993;
  point.dtype = DType::F16;
  point.op = Op::Avg;
  point.memory = Memory::Symmetric;
  point.contract = Contract::Ordered;
  point.line_ns = 41.25;
  point.rounds = 17;
  point.dropped = 4;
  point.bound_us = 0.125;
  point.builtin = "direct";
  point.mpi = {{Cycle::Skew, {5, 4, 6}}};
  MeasuredCandidate good;
  good.choice = "direct";
  good.regret = 1.5;
  good.vs_builtin = Interval{1.0 / 3, 0.25, 0.5};
  good.times = {{Cycle::Decode, {2, 1, 3}}, {Cycle::Same, {0.3, 0.2, 0.4}}};
  MeasuredCandidate bad;
  bad.choice = "ring";
  bad.status = MeasuredCandidate::Status::Failed;
  bad.reason = "crashed: \"signal\" 11";
  point.candidates = {good, bad};
  return point;
}

Tuning full_tuning() {
  Tuning tuning;
  tuning.machine = {"A \"CPU\" \\ \xC3\xA9",
                    2,
                    1024,
                    32768,
                    "avx2 avx512f",
                    34.7,
                    36.25,
                    80.5,
                    41.5,
                    "0.1.0",
                    "4.1.4",
                    "core",
                    "2026-01-31T12:00:00Z"};
  Rule shot;
  shot.algorithm = &fake::kOneShot;
  shot.params.values = {64, 16 << 20, 1, -8, 0, 0};
  shot.bytes.low = 9007199254740993;  // 2^53 + 1: not a double
  Rule gather;
  gather.collective = Collective::Allgather;
  gather.algorithm = &fake::kAllgatherRing;
  gather.pes.high = 17;
  gather.evidence = Evidence{1.0 / 3, {1e-9, 1e15}, 1, {}, {}, {}};
  tuning.rules = {full_rule(), shot, gather};
  tuning.sweep = SweepFacts{60,
                            59.5,
                            true,
                            {Cycle::Rotate, Cycle::Same},
                            {{Collective::Allreduce, "ring", 4294967295},
                             {Collective::Allreduce, "one_shot", 7},
                             {Collective::Broadcast, "flat", 1}}};
  tuning.points = {full_point(), full_point()};
  return tuning;
}

TEST(TunerJson, load_dump_load_is_exact) {
  const Tuning tuning = full_tuning();
  const std::string text = to_json(tuning);
  const Tuning again = parse(text);
  EXPECT_EQ(again, tuning) << text;
  EXPECT_EQ(to_json(again), text);
}

/// A key that is read into another field would not survive: all values differ.
TEST(TunerJson, every_key_of_a_rule_is_its_own) {
  const Rule rule = parse(to_json(full_tuning())).rules.at(0);
  EXPECT_EQ(rule.pes, (Range{2, 3}));
  EXPECT_EQ(rule.nodes, (Range{1, 4}));
  EXPECT_EQ(rule.bytes, (Range{513, std::numeric_limits<std::uint64_t>::max()}));
  EXPECT_EQ(rule.line_ns, (Range{7, 80}));
  EXPECT_EQ(rule.dtype, DType::BF16);
  EXPECT_EQ(rule.op, Op::Max);
  EXPECT_EQ(rule.memory, Memory::Symmetric);
  EXPECT_EQ(rule.contract, Contract::Ordered);
  EXPECT_EQ(rule.evidence->vs_builtin, 1.12);
  EXPECT_EQ(rule.evidence->runner_up, "direct");
  EXPECT_EQ(rule.evidence->bytes, 4096u);
  EXPECT_EQ(rule.origin, "t.json:5 rules[0]");
}

TEST(TunerJson, every_key_of_a_point_and_of_the_sweep_is_its_own) {
  const Tuning again = parse(to_json(full_tuning()));
  EXPECT_EQ(again.points.at(1), full_point());
  EXPECT_EQ(again.sweep, full_tuning().sweep);
  EXPECT_NE(again.points.at(0).candidates.at(0).times, full_point().mpi);
}

TEST(TunerJson, a_file_without_sweep_and_points_has_none) {
  const Tuning tuning = parse(R"({"tutti_tuning": 1, "rules": []})");
  EXPECT_FALSE(tuning.sweep);
  EXPECT_TRUE(tuning.points.empty());
}

TEST(TunerJson, a_full_file_has_every_key_in_the_documented_order) {
  const std::string text = to_json(full_tuning());
  const auto in_order = [&](auto keys, std::size_t from) {
    for (const std::string_view key : keys) {
      const std::size_t at = text.find("\"" + std::string(key) + "\": ", from);
      ASSERT_NE(at, std::string::npos) << key << " is missing or too early in\n" << text;
      from = at;
    }
  };
  in_order(kFileKeys, 0);
  in_order(kMachineKeys, text.find("machine"));
  const std::size_t rule = text.find("{\"collective\"");
  std::vector<std::string_view> rule_keys(kRuleKeys.begin(), kRuleKeys.end());
  std::erase(rule_keys, "params");
  in_order(rule_keys, rule);
  in_order(kEvidenceKeys, text.find("evidence", rule));
  in_order(kSweepKeys, text.find("\"sweep\""));
  const std::size_t point = text.find("\"points\"");
  in_order(kPointKeys, point);
  std::vector<std::string_view> measured(kCandidateKeys.begin(), kCandidateKeys.end());
  std::erase(measured, "reason");  // the first candidate was measured
  in_order(measured, text.find("candidates", point));
}

TEST(TunerJson, schema_and_user_page_know_every_key) {
  for (const char* document : {TUTTI_DOCS "/tuning.schema.json", TUTTI_DOCS "/tuning.md"}) {
    std::ostringstream text;
    text << std::ifstream(document).rdbuf();
    const auto mentions = [&](std::string_view key) {
      const std::string in_schema = "\"" + std::string(key) + "\": {";
      const std::string on_page = "`" + std::string(key) + "`";
      return text.str().find(in_schema) != std::string::npos ||
             text.str().find(on_page) != std::string::npos;
    };
    for (const std::string_view key : kFileKeys) EXPECT_TRUE(mentions(key)) << document << key;
    for (const std::string_view key : kMachineKeys) EXPECT_TRUE(mentions(key)) << document << key;
    for (const std::string_view key : kRuleKeys) EXPECT_TRUE(mentions(key)) << document << key;
    for (const std::string_view key : kEvidenceKeys) EXPECT_TRUE(mentions(key)) << document << key;
    for (const std::string_view key : kSweepKeys) EXPECT_TRUE(mentions(key)) << document << key;
    for (const std::string_view key : kPointKeys) EXPECT_TRUE(mentions(key)) << document << key;
    for (const std::string_view key : kCandidateKeys) EXPECT_TRUE(mentions(key)) << document << key;
  }
}

TEST(TunerJson, names_of_all_algorithms_read_back_as_themselves) {
  for (const Algorithm* algorithm : fake::kAll) {
    Rule rule;
    rule.collective = algorithm->collective;
    rule.algorithm = algorithm;
    rule.params = initial_params(*algorithm);
    Tuning tuning;
    tuning.rules = {rule};
    EXPECT_EQ(parse(to_json(tuning)).rules.at(0).algorithm, algorithm) << algorithm->name;
  }
}

TEST(TunerJson, names_of_all_types_and_operations_read_back_as_themselves) {
  Tuning tuning;
  for (std::size_t i = 0; i < kDTypes; ++i) {
    Rule rule;
    rule.algorithm = &fake::kSymmetricPush;
    rule.dtype = static_cast<DType>(i);
    rule.op = static_cast<Op>(i % kOps);
    tuning.rules.push_back(rule);
  }
  EXPECT_EQ(parse(to_json(tuning)), tuning);
}

TEST(TunerJson, what_is_left_out_is_open_or_initial) {
  const Rule rule =
      parse(with_rule(R"({"algorithm":"one_shot","collective":"allreduce"})")).rules.at(0);
  Rule expected;
  expected.algorithm = &fake::kOneShot;
  expected.params.values = {2, 65536, 0, 0, 0, 0};
  EXPECT_EQ(rule, expected);
}

TEST(TunerJson, null_is_an_open_end_and_bytes_may_be_sizes) {
  const Rule rule = parse(with_rule(R"({"collective":"allreduce","algorithm":"one_shot",
      "bytes":["1K","4M"],"pes":[null,8],"line_ns":[80,null]})"))
                        .rules.at(0);
  EXPECT_EQ(rule.bytes, (Range{1024, 4194304}));
  EXPECT_EQ(rule.pes, (Range{{}, 8}));
  EXPECT_EQ(rule.line_ns, (Range{80, {}}));
}

TEST(TunerJson, limits_themselves_are_accepted) {
  EXPECT_EQ(params_of(R"({"chunk_bytes":64})")[1], 64);
  EXPECT_EQ(params_of(R"({"chunk_bytes":"16M"})")[1], 16 << 20);
  EXPECT_EQ(params_of(R"({"chunk_bytes":"64K"})")[1], 65536);
  EXPECT_EQ(params_of(R"({"bias":-8})")[3], -8);
  EXPECT_EQ(params_of(R"({"store":"stream","slots":64})"), (Params{{64, 65536, 1, 0, 0, 0}}));
}

TEST(TunerJson, refuses_numbers_that_json_cannot_hold) {
  Tuning tuning = full_tuning();
  tuning.rules[0].evidence->vs_builtin = std::numeric_limits<double>::infinity();
  EXPECT_THROW(to_json(tuning), Error);
}

TEST(TunerJson, prefixes_and_wrong_bytes_are_refused_or_read) {
  const std::string good = to_json(full_tuning());
  for (std::size_t i = 0; i < good.size() - 2; ++i) {
    EXPECT_THAT(refusal(good.substr(0, i)), StartsWith("t.json:")) << i;
  }
  constexpr std::string_view kWrong("\0\"\\{}[,9- \xFF", 11);
  for (std::size_t i = 0; i < 2 * good.size(); ++i) {
    std::string bad = good;
    bad[i % good.size()] = kWrong[i % kWrong.size()];
    try {
      parse(bad);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith("t.json:")) << bad;
    }
  }
}

TEST(TunerJson, a_file_is_written_whole_and_read_back) {
  const std::string path = ::testing::TempDir() + "tutti_tuning_" + std::to_string(::getpid());
  std::ofstream(path) << "old content";
  write_tuning(path, full_tuning());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  EXPECT_EQ(parse(text.str()), full_tuning());
  EXPECT_THROW(write_tuning(::testing::TempDir() + "no/such/folder.json", {}), Error);
}

}  // namespace
}  // namespace tutti::detail
