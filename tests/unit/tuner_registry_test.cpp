// SPDX-License-Identifier: Apache-2.0
// Tuning files against the registries of the library, and what its own rules choose.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::EndsWith;

std::string refusal(const std::string& rule) {
  try {
    parse_tuning("{\"tutti_tuning\": 1,\n \"rules\": [\n" + rule + "]}", "t.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Tuning);
    return error.what();
  }
  return "not refused";
}

Collective collective_of(std::size_t i) { return static_cast<Collective>(i); }

TEST(TunerRegistry, every_algorithm_with_every_value_at_its_end_reads_back_as_itself) {
  std::size_t read = 0;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Algorithm* algorithm : algorithms(collective_of(c))) {
      for (const bool largest : {false, true}) {
        Rule rule;
        rule.collective = algorithm->collective;
        rule.algorithm = algorithm;
        for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
          const Parameter& parameter = algorithm->parameters[i];
          rule.params[i] = largest ? parameter.max : parameter.min;
        }
        Tuning tuning;
        tuning.rules = {rule};
        EXPECT_EQ(parse_tuning(to_json(tuning), "t.json"), tuning) << to_json(tuning);
        ++read;
      }
    }
  }
  EXPECT_GT(read, 2 * kCollectives) << "more than one a collective";
}

TEST(TunerRegistry, an_unknown_algorithm_is_answered_with_all_there_are) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    const std::string_view collective = name_of(collective_of(c));
    std::string names;
    for (const Algorithm* algorithm : algorithms(collective_of(c))) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm->name);
    }
    EXPECT_THAT(refusal(fmt::format(R"({{"collective": "{}", "algorithm": "1"}})", collective)),
                EndsWith(fmt::format("rules[0].algorithm: unknown algorithm of {} '1'; Valid: {}",
                                     collective, names)));
  }
}

TEST(TunerRegistry, an_unknown_parameter_is_answered_with_all_there_are) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Algorithm* algorithm : algorithms(collective_of(c))) {
      std::string names;
      for (const Parameter& parameter : algorithm->parameters) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", parameter.name);
      }
      if (names.empty()) continue;
      const std::string said =
          refusal(fmt::format(R"({{"collective": "{}", "algorithm": "{}", "params": {{"1": 1}}}})",
                              name_of(collective_of(c)), algorithm->name));
      EXPECT_THAT(said,
                  EndsWith(fmt::format("rules[0].params: unknown parameter of {} '1'; Valid: {}",
                                       algorithm->name, names)));
    }
  }
}

/// A tree whose PEs have no children divides by nothing and ends nowhere.
TEST(TunerRegistry, a_fan_out_of_0_is_refused_with_its_place_and_its_range) {
  for (const char* wrong : {"0", "-1", "9"}) {
    EXPECT_EQ(
        refusal(fmt::format(
            R"({{"collective": "allreduce", "algorithm": "tree", "params": {{"fanout": {}}}}})",
            wrong)),
        fmt::format("t.json:3:71: rules[0].params.fanout: {} is out of range; allowed: 1 to 8",
                    wrong));
  }
}

/// The sizes around which something may change.
std::set<std::size_t> telling_sizes(const std::vector<Rule>& rules) {
  std::set<std::size_t> sizes;
  const auto add = [&](std::size_t at) { sizes.insert({at == 0 ? 0 : at - 1, at, at + 1}); };
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) add(bytes);
  for (std::size_t bytes = 512; bytes <= std::size_t{1} << 28; bytes *= 2) add(bytes);
  for (const Rule& rule : rules) {
    if (rule.bytes.low) add(*rule.bytes.low);
    if (rule.bytes.high) add(*rule.bytes.high);
  }
  return sizes;
}

std::string short_text(const Decision& decision) {
  std::string text = decision.algorithm->name;
  const Params initial = initial_params(*decision.algorithm);
  for (std::size_t i = 0; i < decision.algorithm->parameters.size(); ++i) {
    if (decision.params[i] == initial[i]) continue;
    text += fmt::format("{}{}={}", text.find(':') == text.npos ? ':' : ',',
                        decision.algorithm->parameters[i].name, decision.params[i]);
  }
  return text;
}

/// What the built-in rules choose, a line a kind of problem: each choice with the least bytes.
std::vector<std::string> builtin_choices() {
  const Catalog catalog = builtin_catalog();
  const std::vector<Rule> rules = builtin_rules(catalog);
  SelectorInput input;
  input.catalog = &catalog;
  input.built_in = rules;
  std::vector<std::string> lines;
  for (std::size_t kind = 0; kind < kCollectives * 4 * 2 * 3; ++kind) {
    Problem problem;
    problem.collective = collective_of(kind / 24);
    problem.pes = std::array{2, 3, 4, 8}[kind / 6 % 4];
    problem.memory = kind / 3 % 2 == 0 ? Memory::Private : Memory::Symmetric;
    problem.line_ns = std::array{30, 100, 250}[kind % 3];
    problem.dtype = DType::U8;
    std::string line = fmt::format("{} {} PEs {} {} ns:", name_of(problem.collective), problem.pes,
                                   name_of(problem.memory), problem.line_ns);
    std::string last;
    for (const std::size_t bytes : telling_sizes(rules)) {
      const std::size_t blocks = has_blocks(problem.collective) ? problem.pes : 1;
      if (bytes % blocks != 0) continue;
      problem.count = bytes / blocks;
      const std::string now = short_text(select(problem, input));
      if (now != last) line += fmt::format(" {} {}", bytes, now);
      last = now;
    }
    lines.push_back(line);
  }
  return lines;
}

/// A change of the built-in choices is a change of this file: `TUTTI_TEST_WRITE=1` writes it anew.
TEST(TunerRegistry, built_in_choices_of_every_collective_are_those_on_record) {
  const std::vector<std::string> choices = builtin_choices();
  if (std::getenv("TUTTI_TEST_WRITE") != nullptr) {
    std::ofstream(TUTTI_CHOICES) << fmt::format("{}\n", fmt::join(choices, "\n"));
    GTEST_SKIP() << "written: " << TUTTI_CHOICES;
  }
  std::ifstream file(TUTTI_CHOICES);
  std::vector<std::string> recorded;
  for (std::string line; std::getline(file, line);) recorded.push_back(line);
  ASSERT_EQ(recorded.size(), choices.size()) << "TUTTI_TEST_WRITE=1 writes the file anew";
  for (std::size_t i = 0; i < choices.size(); ++i) EXPECT_EQ(choices[i], recorded[i]);
}

}  // namespace
}  // namespace tutti::detail
