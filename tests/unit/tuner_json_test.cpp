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
  rule.evidence = Evidence{0.1, {0.09, 0.3}, 31, 1.12, "direct", {{1.21, 1.33}}};
  return rule;
}

Tuning full_tuning() {
  Tuning tuning;
  tuning.machine = {
      "A \"CPU\" \\ \xC3\xA9", 2, 1024, 32768, "avx2 avx512f", 34.7, 41.5, "0.1.0", "4.1.4", "core",
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
  EXPECT_EQ(rule.origin, "t.json:4 rules[0]");
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
