// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/tune/choosing.hpp"
#include "bench/tune/cliffs.hpp"

namespace tutti::tests {
namespace {

using namespace bench;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;

constexpr std::array<const char*, 4> kChoices = {"one_shot", "one_shot:lag=2", "two_shot", "ring"};

/// A machine that does not exist: each choice has a latency and a bandwidth.
struct MadeUpMachine {
  std::array<double, kChoices.size()> latency_us{};
  std::array<double, kChoices.size()> bytes_per_us{};

  explicit MadeUpMachine(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-1, 1);
    for (std::size_t c = 0; c < kChoices.size(); ++c) {
      latency_us[c] = std::exp2(2 * exponent(random));
      bytes_per_us[c] = 4000 * std::exp2(1.5 * exponent(random));
    }
  }
  double time_us(std::size_t choice, std::size_t bytes) const {
    return latency_us[choice] + static_cast<double>(bytes) / bytes_per_us[choice];
  }
};

std::string full(const std::string& choice) {
  const Forced parsed = parse_choice(Collective::Allreduce, choice, "test");
  return describe(*parsed.algorithm, parsed.params);
}

Problem problem_at(std::size_t bytes) {
  Problem problem;
  problem.pes = 2;
  problem.line_ns = 50;
  problem.count = bytes / 4;
  return problem;
}

/// Which of the choices runs.
std::size_t chosen(const Tuning& file, std::size_t bytes) {
  const Explanation said = explain(problem_at(bytes), file);
  const std::string choice = describe(*said.algorithm, said.params);
  return static_cast<std::size_t>(
      std::ranges::find_if(kChoices, [&](const char* each) { return full(each) == choice; }) -
      kChoices.begin());
}

MeasuredPoint measured(const MadeUpMachine& machine, std::size_t bytes) {
  const std::size_t builtin = chosen({}, bytes);
  double best = machine.time_us(0, bytes);
  for (std::size_t c = 0; c < kChoices.size(); ++c) {
    best = std::min(best, machine.time_us(c, bytes));
  }
  MeasuredPoint point;
  point.pes = 2;
  point.bytes = bytes;
  point.line_ns = 50;
  point.rounds = 40;
  point.builtin = kChoices[builtin];
  for (std::size_t c = 0; c < kChoices.size(); ++c) {
    MeasuredCandidate candidate;
    candidate.choice = kChoices[c];
    const double us = machine.time_us(c, bytes);
    const double gain = machine.time_us(builtin, bytes) / us;
    candidate.regret = us / best;
    candidate.vs_builtin = Interval{gain, 0.99 * gain, 1.01 * gain};
    candidate.times = {{Cycle::Same, {us, 0.99 * us, 1.01 * us}}};
    point.candidates.push_back(candidate);
  }
  return point;
}

/// What a sweep on that machine writes; some points are missing, as where nothing was steady.
Tuning swept(const MadeUpMachine& machine, unsigned seed) {
  std::mt19937 random(seed);
  Tuning file;
  for (std::size_t bytes = 256; bytes <= std::size_t{4} << 20; bytes *= 4) {
    if (random() % 4 != 0) file.points.push_back(measured(machine, bytes));
  }
  file.rules = rules_of(file.points);
  return file;
}

TEST(TuneCliffs, rules_of_a_sweep_have_none_by_their_own_times) {
  std::size_t rules = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Tuning file = swept(MadeUpMachine(seed), seed);
    rules += file.rules.size();
    for (const Cliff& cliff : cliffs(file)) ADD_FAILURE() << seed << ": " << to_string(cliff);
  }
  EXPECT_GT(rules, 40u);
}

TEST(TuneCliffs, neighbouring_sizes_cost_about_the_same_on_the_machine_that_was_swept) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const MadeUpMachine machine(seed);
    const Tuning file = swept(machine, seed);
    // Beyond the sizes measured nobody knows this machine's law.
    for (const Rule& rule : file.rules) {
      for (const auto& end : {rule.bytes.low, rule.bytes.high}) {
        if (!end || *end <= file.points.front().bytes || *end >= file.points.back().bytes) continue;
        const std::size_t low = (*end - 4) / 4 * 4;
        for (std::size_t bytes = low; bytes < low + 12; bytes += 4) {
          const double before = machine.time_us(chosen(file, bytes), bytes);
          const double after = machine.time_us(chosen(file, bytes + 4), bytes + 4);
          // 25 %, and what a straight line between two sizes four or sixteen times apart may miss.
          EXPECT_LT(std::max(before, after) / std::min(before, after), 1.25 * 1.3)
              << "seed " << seed << ", " << bytes << " bytes";
        }
      }
    }
  }
}

TEST(TuneCliffs, a_rule_that_ends_where_it_is_twice_as_fast_is_one_and_is_named) {
  const Tuning file = parse_tuning(R"({"tutti_tuning": 1, "rules": [
      {"collective": "allreduce", "pes": [2, 2], "bytes": [1024, 32768], "dtype": "f32",
       "memory": "private", "contract": "consistent", "line_ns": [0, 79], "algorithm": "two_shot",
       "evidence": {"bytes": 32768, "median_us": 10, "ci95_us": [9.9, 10.1], "rounds": 30,
                    "vs_builtin": 2.0}}]})",
                                   "t.json");
  std::vector<std::string> texts;
  for (const Cliff& cliff : cliffs(file)) texts.push_back(to_string(cliff));
  ASSERT_EQ(texts.size(), 2u) << "at both ends";
  EXPECT_EQ(texts[1],
            "allreduce f32 sum private consistent, 2 PEs, near: at 32772 bytes one_shot takes 2.00 "
            "[1.96, 2.04] times as long as two_shot one element below");
}

TEST(TuneCliffs, a_cliff_where_the_regime_is_not_known_is_told_of_near_only_if_it_is_there) {
  const auto regimes = [](const std::string& line_ns) {
    const Tuning file = parse_tuning(R"({"tutti_tuning": 1, "rules": [
        {"collective": "allreduce", "pes": [2, 2], "bytes": [1024, 32768], "memory": "private",
         "contract": "consistent", "algorithm": "two_shot",
         "evidence": {"bytes": 32768, "median_us": 10, "ci95_us": [9.9, 10.1], "rounds": 30,
                      "vs_builtin": 2.0}, "line_ns": )" +
                                         line_ns + "}]}",
                                     "t.json");
    std::vector<std::string_view> all;
    for (const Cliff& cliff : cliffs(file)) all.push_back(regime_of(cliff.problem.line_ns));
    return all;
  };
  EXPECT_THAT(regimes("[0, 79]"), ElementsAre("near", "near"));
  EXPECT_THAT(regimes("[0, 0]"), ElementsAre("unknown", "unknown"));
}

TEST(TuneCliffs, one_that_only_the_cost_model_sees_is_called_predicted) {
  const Tuning file = parse_tuning(R"({"tutti_tuning": 1, "rules": [
      {"collective": "broadcast", "pes": [8, 8], "bytes": [65536, null], "algorithm": "chain"}]})",
                                   "t.json");
  const std::vector<Cliff> all = cliffs(file);
  ASSERT_FALSE(all.empty());
  EXPECT_THAT(to_string(all[0]), MatchesRegex(".*at 65536 bytes chain takes about [0-9.]+ times as "
                                              "long as flat one element below \\(predicted\\)"));
}

TEST(TuneCliffs, what_the_intervals_leave_open_is_none) {
  const Tuning file = parse_tuning(R"({"tutti_tuning": 1, "rules": [
      {"collective": "allreduce", "pes": [2, 2], "bytes": [65536, 65536], "dtype": "f32",
       "memory": "private", "contract": "consistent", "line_ns": [0, 79], "algorithm": "two_shot",
       "evidence": {"bytes": 65536, "median_us": 10, "ci95_us": [6, 16], "rounds": 8,
                    "vs_builtin": 1.5}}]})",
                                   "t.json");
  EXPECT_TRUE(cliffs(file).empty());
}

}  // namespace
}  // namespace tutti::tests
