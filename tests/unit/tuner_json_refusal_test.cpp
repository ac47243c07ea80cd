// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "collectives/tuner/json.hpp"
#include "fake_algorithms.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(std::string_view text) {
  try {
    parse_tuning(text, "t.json", fake::catalog());
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

TEST(TunerJsonRefusal, integers_are_never_narrowed) {
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
     "t.json:1:34: unknown key 'rulez'; did you mean 'rules'? Valid: tutti_tuning, machine, sweep, "
     "rules, points"},
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
    {R"({"tutti_tuning": 1, "machine": {"cross_gbps": "fast"}, "rules": []})",
     "t.json:1:47: machine.cross_gbps: expected a number, got a string"},
    {R"({"tutti_tuning": 1, "machine": {"fold_gbps": 1e16}, "rules": []})",
     "t.json:1:46: machine.fold_gbps: '1e16' is out of range; allowed: 0 to 1e15"},
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
    {R"({"collective":"allreduce","algorithm":"one_shot","params":{"bias":-9}})",
     "t.json:3:67: rules[0].params.bias: -9 is out of range; allowed: -8 to 8"},
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
TEST(TunerJsonRefusal, every_bad_file_is_refused_with_position_and_path) {
  for (const BadFile& bad : kBadFiles) {
    EXPECT_THAT(refusal(bad.text), StartsWith(bad.error)) << bad.text;
  }
}

TEST(TunerJsonRefusal, every_bad_rule_is_refused_with_position_and_path) {
  for (const BadFile& bad : kBadRules) {
    EXPECT_THAT(refusal(with_rule(bad.text)), StartsWith(bad.error)) << bad.text;
  }
}

TEST(TunerJsonRefusal, refuses_texts_and_objects_that_are_too_large) {
  EXPECT_THAT(refusal(std::string(kMostFileBytes + 1, ' ')), StartsWith("t.json:1:1: "));
  std::string keys;
  for (int i = 0; i < 65; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_THAT(refusal("{" + keys + "}"), HasSubstr("more than 64 keys"));
}

}  // namespace
}  // namespace tutti::detail
