// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/json.hpp"
#include "support/fake_algorithms.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::HasSubstr;
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

/// The refusal of a parameter of one_shot, which stands at t.json:3:74.
std::string chunk_refusal(const std::string& value) {
  return refusal(
      with_rule(R"({"collective":"allreduce","algorithm":"one_shot","params":{"chunk_bytes":)" +
                value + "}}"));
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

TEST(TunerJson, integers_are_never_narrowed) {
  constexpr const char* kWhere = "t.json:3:74: rules[0].params.chunk_bytes: ";
  constexpr const char* kAllowed = "allowed: 64 to 16777216";
  for (const char* value : {"4294967297", "-1", "0", "18446744073709551617", "1.5", "1e3", "1.0",
                            "16777217", "63", "-18446744073709551617", "\"17M\"", "\"64k\""}) {
    EXPECT_THAT(chunk_refusal(value), StartsWith(kWhere)) << value;
    EXPECT_THAT(chunk_refusal(value), HasSubstr(kAllowed)) << value;
  }
  EXPECT_THAT(chunk_refusal("4294967297"), HasSubstr("4294967297 is out of range"));
  EXPECT_THAT(chunk_refusal("1e3"), HasSubstr("'1e3': a whole number is written with digits only"));
  EXPECT_THAT(chunk_refusal("true"), HasSubstr("expected a whole number, got a boolean"));
  EXPECT_THAT(chunk_refusal("null"), HasSubstr("expected a whole number, got null"));
  EXPECT_THAT(chunk_refusal("1e999"), HasSubstr("rules[0].params.chunk_bytes: "));
  EXPECT_THAT(chunk_refusal("01"), StartsWith("t.json:3:"));
}

TEST(TunerJson, limits_themselves_are_accepted) {
  EXPECT_EQ(params_of(R"({"chunk_bytes":64})")[1], 64);
  EXPECT_EQ(params_of(R"({"chunk_bytes":"16M"})")[1], 16 << 20);
  EXPECT_EQ(params_of(R"({"chunk_bytes":"64K"})")[1], 65536);
  EXPECT_EQ(params_of(R"({"bias":-8})")[3], -8);
  EXPECT_EQ(params_of(R"({"store":"stream","slots":64})"), (Params{{64, 65536, 1, 0, 0, 0}}));
}

struct BadFile {
  const char* text;
  const char* error;
};

constexpr BadFile kBadFiles[] = {
    {"", "t.json:1:1: syntax error while parsing value - unexpected end of input"},
    {"[1]", "t.json:1:1: expected an object, got a list"},
    {"{}", "t.json:1:1: missing key 'tutti_tuning', the schema; this library reads schema 1"},
    {R"({"rules": []})", "t.json:1:1: missing key 'tutti_tuning'"},
    {"{\"new\": 1,\n \"tutti_tuning\": 99}",
     "t.json:2:18: tutti_tuning: schema 99 is not known; this library reads schema 1"},
    {R"({"tutti_tuning": "1", "rules": []})",
     "t.json:1:18: tutti_tuning: expected a whole number, got a string"},
    {R"({"tutti_tuning": 1})", "t.json:1:1: missing key 'rules'"},
    {R"({"tutti_tuning": 1, "rules": {}})",
     "t.json:1:30: rules: expected a list of rules, got an object"},
    {R"({"tutti_tuning": 1, "rules": [], "rulez": []})",
     "t.json:1:34: unknown key 'rulez'; did you mean 'rules'? Valid: tutti_tuning, machine, rules"},
    {"{\"tutti_tuning\": 1,\n\"rules\": [],\n \"rules\": []}",
     "t.json:3:2: duplicate key 'rules', first on line 2"},
    {"{\"tutti_tuning\": 1, // no comments\n \"rules\": []}", "t.json:1:21: syntax error"},
    {"{\"tutti_tuning\": 1, \"rules\": []} x", "t.json:1:34: syntax error"},
    {"{\"tutti_tuning\": 1, \"rules\": [],}", "t.json:1:33: syntax error"},
    {"{\"tutti_tuning\": 1, \"rules\": [\"\xFF\"]}", "t.json:1:32: rules[0]: syntax error"},
    {"{\"tutti_tuning\": 1, \"rules\": [[[[[[[[[[]]]]]]]]]]}",
     "t.json:1:37: rules[0][0][0][0][0][0][0]: nested deeper than 8 levels"},
    {"{\"tutti_tuning\": 1,\n \"machine\": {\"cpu\": \"\xC3\xA9\xC3\xA9\", \"cores\": \"2\"},\n"
     " \"rules\": []}",
     "t.json:2:36: machine.cores: expected a whole number, got a string"},
    {R"({"tutti_tuning": 1, "machine": {"l2": 1}, "rules": []})",
     "t.json:1:33: machine: unknown key 'l2'; "},
    {R"({"tutti_tuning": 1, "machine": {"copy_gbps": -1}, "rules": []})",
     "t.json:1:46: machine.copy_gbps: '-1' is out of range; allowed: 0 to 1e15"},
    {R"({"tutti_tuning": 1, "machine": null, "rules": []})",
     "t.json:1:32: machine: expected an object, got null"},
};
constexpr BadFile kBadRules[] = {
    {R"(7)", "t.json:3:1: rules[0]: expected an object, got a number"},
    {R"({"collective":"allreduce"})", "t.json:3:1: rules[0]: missing key 'algorithm'"},
    {R"({"algorithm":"ring"})", "t.json:3:1: rules[0]: missing key 'collective'"},
    {R"({"collective":"alreduce","algorithm":"ring"})",
     "t.json:3:15: rules[0].collective: unknown collective 'alreduce'; did you mean 'allreduce'? "
     "Valid: allreduce, allgather, reduce_scatter, broadcast"},
    {R"({"collective":"allreduce","algorithm":"one_shoot"})",
     "t.json:3:39: rules[0].algorithm: unknown algorithm of allreduce 'one_shoot'; did you mean "
     "'one_shot'? Valid: one_line, one_shot, two_shot, symmetric_push, ring"},
    {R"({"collective":"allgather","algorithm":"two_shot"})",
     "t.json:3:39: rules[0].algorithm: unknown algorithm of allgather 'two_shot'; Valid: direct, "
     "ring"},
    {R"({"collective":"allreduce","algorithm":"ring","max_reqests":1})",
     "t.json:3:46: rules[0]: unknown key 'max_reqests'; Valid: collective, pes, nodes, bytes"},
    {R"({"collective":"allreduce","algorithm":"ring","lines_ns":[1,2]})",
     "t.json:3:46: rules[0]: unknown key 'lines_ns'; did you mean 'line_ns'?"},
    {R"({"collective":"allreduce","algorithm":"one_shot","params":{"slotz":1}})",
     "t.json:3:60: rules[0].params: unknown parameter of one_shot 'slotz'; did you mean 'slots'? "
     "Valid: slots, chunk_bytes, store, bias"},
    {R"({"collective":"allreduce","algorithm":"one_line","params":{"slots":1}})",
     "t.json:3:60: rules[0].params: unknown parameter of one_line 'slots'; there are none"},
    {R"({"collective":"allreduce","algorithm":"one_shot","params":{"slots":1,"slots":2}})",
     "t.json:3:70: rules[0].params: duplicate key 'slots', first on line 3"},
    {R"({"collective":"allreduce","algorithm":"one_shot","params":{"slots":"2"}})",
     "t.json:3:68: rules[0].params.slots: expected a whole number, got a string"},
    {R"({"collective":"allreduce","algorithm":"one_shot","params":{"store":1}})",
     "t.json:3:68: rules[0].params.store: expected the name of a choice, got a number"},
    {R"({"collective":"allreduce","algorithm":"one_shot","params":{"store":"stram"}})",
     "t.json:3:68: rules[0].params.store: unknown choice 'stram'; did you mean 'stream'? Valid: "
     "cached, stream"},
    {R"({"collective":"allreduce","algorithm":"one_shot","params":[]})",
     "t.json:3:59: rules[0].params: expected an object, got a list"},
    {R"({"collective":"allreduce","algorithm":"ring","pes":[1,70000]})",
     "t.json:3:55: rules[0].pes[1]: 70000 is out of range; allowed: 1 to 65536"},
    {R"({"collective":"allreduce","algorithm":"ring","pes":[0,2]})",
     "t.json:3:53: rules[0].pes[0]: 0 is out of range; allowed: 1 to 65536"},
    {R"({"collective":"allreduce","algorithm":"ring","pes":["1K",null]})",
     "t.json:3:53: rules[0].pes[0]: expected a whole number, got a string"},
    {R"({"collective":"allreduce","algorithm":"ring","pes":2})",
     "t.json:3:52: rules[0].pes: expected a list [low, high], null = open, got a number"},
    {R"({"collective":"allreduce","algorithm":"ring","nodes":[1,2,3]})",
     "t.json:3:54: rules[0].nodes: expected a list [low, high], null = open, got 3 values"},
    {R"({"collective":"allreduce","algorithm":"ring","bytes":[2,1]})",
     "t.json:3:54: rules[0].bytes: low 2 is above high 1"},
    {R"({"collective":"allreduce","algorithm":"ring","bytes":[0,18446744073709551616]})",
     "t.json:3:57: rules[0].bytes[1]: '18446744073709551616' is out of range; allowed: 0 to "
     "18446744073709551615"},
    {R"({"collective":"allreduce","algorithm":"ring","line_ns":[0,1e3]})",
     "t.json:3:59: rules[0].line_ns[1]: '1e3': a whole number is written with digits only"},
    {R"({"collective":"allreduce","algorithm":"ring","dtype":"float"})",
     "t.json:3:54: rules[0].dtype: unknown dtype 'float'; "},
    {R"({"collective":"allreduce","algorithm":"ring","op":"summ"})",
     "t.json:3:51: rules[0].op: unknown op 'summ'; did you mean 'sum'?"},
    {R"({"collective":"allreduce","algorithm":"ring","memory":"heap"})",
     "t.json:3:55: rules[0].memory: unknown memory 'heap'; "},
    {R"({"collective":"allreduce","algorithm":"ring","contract":null})",
     "t.json:3:57: rules[0].contract: expected a string, got null"},
    {R"({"collective":"allreduce","algorithm":"ring","evidence":{"rounds":1}})",
     "t.json:3:57: rules[0].evidence: missing key 'median_us'"},
    {R"({"collective":"allreduce","algorithm":"ring",
"evidence":{"median_us":1,"ci95_us":[2,1],"rounds":1}})",
     "t.json:4:37: rules[0].evidence.ci95_us: low is above high"},
    {R"({"collective":"allreduce","algorithm":"ring",
"evidence":{"median_us":1,"ci95_us":[1,2],"rounds":1,"runner_up":"rings"}})",
     "t.json:4:66: rules[0].evidence.runner_up: unknown algorithm of allreduce 'rings'; did you "
     "mean 'ring'?"},
};
TEST(TunerJson, every_bad_file_is_refused_with_position_and_path) {
  for (const BadFile& bad : kBadFiles) {
    EXPECT_THAT(refusal(bad.text), StartsWith(bad.error)) << bad.text;
  }
}

TEST(TunerJson, every_bad_rule_is_refused_with_position_and_path) {
  for (const BadFile& bad : kBadRules) {
    EXPECT_THAT(refusal(with_rule(bad.text)), StartsWith(bad.error)) << bad.text;
  }
}

TEST(TunerJson, refuses_numbers_that_json_cannot_hold) {
  Tuning tuning = full_tuning();
  tuning.rules[0].evidence->vs_builtin = std::numeric_limits<double>::infinity();
  EXPECT_THROW(to_json(tuning), Error);
}

TEST(TunerJson, refuses_texts_and_objects_that_are_too_large) {
  EXPECT_THAT(refusal(std::string(kMostFileBytes + 1, ' ')), StartsWith("t.json:1:1: "));
  std::string keys;
  for (int i = 0; i < 65; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_THAT(refusal("{" + keys + "}"), HasSubstr("more than 64 keys"));
}

TEST(TunerJson, every_prefix_and_every_wrong_byte_is_refused_or_read) {
  const std::string good = to_json(full_tuning());
  for (std::size_t i = 0; i < good.size() - 2; ++i) {
    EXPECT_THAT(refusal(good.substr(0, i)), StartsWith("t.json:")) << i;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'\0', '"', '\\', '{', '}', '[', ',', '9', '-', ' ', '\xFF'}) {
      std::string bad = good;
      bad[i] = c;
      try {
        parse(bad);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), StartsWith("t.json:"));
      }
    }
  }
}

TEST(TunerJson, a_file_is_written_whole_and_read_back) {
  const std::string path = ::testing::TempDir() + "tutti_tuner_json_test.json";
  std::ofstream(path) << "old content";
  write_tuning(path, full_tuning());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(parse(text.str()), full_tuning());
  EXPECT_THROW(write_tuning(::testing::TempDir() + "no/such/folder.json", {}), Error);
}

}  // namespace
}  // namespace tutti::detail
