// SPDX-License-Identifier: Apache-2.0
// What a team does with TUTTI_TUNING, TUTTI_ALGORITHM and TUTTI_TRACE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/environment.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

/// A tuning file, as long as this lives. `rules`: what stands between the brackets.
class RulesFile {
 public:
  explicit RulesFile(const std::string& rules)
      : path_(::testing::TempDir() + "tutti_tuning_test_" + std::to_string(getpid()) + ".json") {
    std::ofstream(path_) << R"({"tutti_tuning": 1, "rules": [)" << rules << "]}";
  }
  ~RulesFile() { std::filesystem::remove(path_); }
  RulesFile(const RulesFile&) = delete;
  RulesFile& operator=(const RulesFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// What a world of two PEs prints to stderr.
template <class Body>
std::string printed(Body&& body) {
  ::testing::internal::CaptureStderr();
  run_world(2, 0, body);
  return ::testing::internal::GetCapturedStderr();
}

constexpr std::size_t kMoreThanPlaces = 300;  ///< problems, of which a lane remembers 64

void pass_over_many_sizes(Team& team, int lane) {
  std::vector<int> data(kMoreThanPlaces);
  for (std::size_t count = 1; count <= kMoreThanPlaces; ++count) {
    allreduce(team, std::span(data).first(count), Op::Max, {.lane = lane});
  }
}

TEST(Tuning, a_rule_that_cannot_be_followed_is_one_warning_however_many_problems_alternate) {
  const RulesFile file(R"({"collective": "allreduce", "algorithm": "one_line"})");
  const ScopedVariable named("TUTTI_TUNING", file.path());
  const std::string text = printed([](Team& team) {
    Team part = team.split(0);  // the same file
    for (int pass = 0; pass < 3; ++pass) {
      for (const int lane : {0, 1}) pass_over_many_sizes(team, lane);
      pass_over_many_sizes(part, 0);
    }
  });
  EXPECT_EQ(times(text, "the rule is skipped"), 1u) << text;
}

TEST(Tuning, a_decision_is_traced_once_however_many_problems_alternate) {
  const ScopedVariable on("TUTTI_TRACE", "1");
  const ScopedVariable fixed("TUTTI_FOLLOW_REGIME", "0");
  const std::string text = printed([](Team& team) {
    for (int pass = 0; pass < 3; ++pass) pass_over_many_sizes(team, 0);
    std::vector<int> data(1);
    for (const char* algorithm : {"one_shot", "two_shot", "one_shot", "two_shot"}) {
      allreduce(team, data, Op::Max, {.algorithm = algorithm});
    }
  });
  EXPECT_EQ(times(text, "chosen by   built-in"), kMoreThanPlaces);
  EXPECT_EQ(times(text, "chosen by   call"), 2u);
}

/// The errors of the PEs' first call, which have to be the same one.
std::string error_of_first_call(int pes) {
  std::vector<Caught> errors(static_cast<std::size_t>(pes));
  const Caught at_start = caught([&] {
    run(pes, [&](Team& team) {
      std::vector<int> data(1);
      errors[team.pe()] = caught([&] { allreduce(team, data, Op::Sum); });
    });
  });
  if (!at_start.text.empty()) {
    EXPECT_EQ(at_start.code, ErrorCode::Tuning);
    return at_start.text;
  }
  for (const Caught& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::Tuning);
    EXPECT_EQ(error.text, errors[0].text);
  }
  return errors[0].text;
}

TEST(Tuning, a_file_without_content_is_a_bad_file_and_not_none) {
  const ScopedVariable nothing("TUTTI_TUNING", "/dev/null");
  EXPECT_THAT(error_of_first_call(3), ::testing::StartsWith("/dev/null:1:1: "));
}

TEST(Tuning, what_cannot_be_read_is_an_agreed_error_with_the_systems_words) {
  const std::string folder = ::testing::TempDir();
  const ScopedVariable named("TUTTI_TUNING", folder);
  EXPECT_EQ(error_of_first_call(3), "TUTTI_TUNING: " + folder + " cannot be read: Is a directory");
  const ScopedVariable missing("TUTTI_TUNING", "/no/such/file");
  EXPECT_EQ(error_of_first_call(3),
            "TUTTI_TUNING: /no/such/file cannot be read: No such file or directory");
  const ScopedVariable endless("TUTTI_TUNING", "/dev/zero");
  EXPECT_EQ(error_of_first_call(3), "TUTTI_TUNING: /dev/zero has more than 4 MiB");
}

TEST(Tuning, a_file_about_other_numbers_of_pes_is_one_warning_a_number_and_the_built_in_rules) {
  const RulesFile file(R"({"collective": "allreduce", "pes": [4, 8], "algorithm": "ring"})");
  const ScopedVariable named("TUTTI_TUNING", file.path());
  ::testing::internal::CaptureStderr();
  for (const int pes : {3, 4}) {
    run_world(pes, 0, [&](Team& team) {
      for (int teams = 0; teams < 2; ++teams) {
        Team part = team.split(team.pe() < 2 ? 0 : 1);
        for (Team* each : {&team, &part}) {
          std::vector<int> data(100, 1);
          allreduce(*each, data, Op::Sum);
          EXPECT_EQ(last_call(*each).algorithm.starts_with("ring"), each->size() == 4);
        }
      }
    });
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(times(text, "is not used on teams of 3 PEs: pes: no rule of the file is about 3 PEs"),
            1u);
  EXPECT_EQ(times(text, "is not used on teams of 2 PEs"), 2u) << "once in each of the two jobs";
  EXPECT_EQ(times(text, "is not used"), 3u) << text;
}

/// What stands at each level, in the order of precedence.
constexpr const char* kLevels[] = {":ring_bytes=16K,chunk_bytes=1K",
                                   ":ring_bytes=16K,chunk_bytes=2K",
                                   ":ring_bytes=16K,chunk_bytes=4K"};

/// An in-place call, which counts what it receives, and the record of it.
std::string ran_in_place(Team& team, Collective collective, const std::string& algorithm) {
  constexpr std::size_t kBlock = 500;
  std::vector<float> data(2 * kBlock, 1);
  if (collective == Collective::Allreduce) {
    allreduce(team, data, Op::Sum, {.algorithm = algorithm});
  } else {
    const auto mine = std::span(data).subspan(static_cast<std::size_t>(team.pe()) * kBlock, kBlock);
    allgather(team, mine, data, {.algorithm = algorithm});
  }
  return last_call(team).algorithm;
}

TEST(Tuning, call_beats_environment_beats_file_beats_built_in_in_what_really_runs) {
  const RulesFile file(
      R"({"collective": "allreduce", "bytes": [4000, 4000], "algorithm": "two_shot",
      "params": {"ring_bytes": "16K", "chunk_bytes": "4K"}},
     {"collective": "allgather", "bytes": [4000, 4000], "algorithm": "direct",
      "params": {"ring_bytes": "16K", "chunk_bytes": "4K"}})");
  for (unsigned present = 0; present < 8; ++present) {
    const std::string level = kLevels[1];
    const ScopedVariable environment(
        "TUTTI_ALGORITHM",
        present & 2u ? "allreduce=two_shot" + level + ";allgather=direct" + level : "");
    const ScopedVariable named("TUTTI_TUNING", present & 4u ? file.path() : "");
    run_world(2, 0, [&](Team& team) {
      for (const Collective collective : {Collective::Allreduce, Collective::Allgather}) {
        const bool reducing = collective == Collective::Allreduce;
        const std::string name = reducing ? "two_shot" : "direct";
        const std::string ran =
            ran_in_place(team, collective, present & 1u ? name + kLevels[0] : "");
        Problem problem;
        problem.collective = collective;
        problem.count = reducing ? 1000 : 500;
        const Explanation said = explain(team, problem);
        EXPECT_EQ(said.where, present & 2u   ? Where::Environment
                              : present & 4u ? Where::File
                                             : Where::BuiltIn);
        std::string expected = describe(*said.algorithm, said.params);
        if (present != 0) {
          const char* wins = kLevels[present & 1u ? 0 : present & 2u ? 1 : 2];
          const Forced choice = parse_choice(collective, name + wins, "test");
          expected = describe(*choice.algorithm, choice.params);
        }
        EXPECT_EQ(ran, expected) << present << ' ' << name_of(collective);
      }
    });
  }
}

TEST(Tuning, a_rule_counts_bytes_and_not_elements) {
  const RulesFile file(
      R"({"collective": "allreduce", "bytes": [8000, 8000], "algorithm": "ring"})");
  const ScopedVariable named("TUTTI_TUNING", file.path());
  run_world(2, 0, [](Team& team) {
    const auto ran = [&](auto data) {
      allreduce(team, data, Op::Sum);
      return last_call(team).algorithm.starts_with("ring");
    };
    EXPECT_TRUE(ran(std::vector<double>(1000, 1)));
    EXPECT_TRUE(ran(std::vector<float>(2000, 1)));
    EXPECT_FALSE(ran(std::vector<float>(1000, 1)));
    EXPECT_FALSE(ran(std::vector<float>(2001, 1)));
  });
}

TEST(Tuning, switches_are_0_or_1_and_nothing_else) {
  for (const char* variable : {"TUTTI_TRACE", "TUTTI_FOLLOW_REGIME"}) {
    for (const char* wrong : {"no", "2", "00", "true", "on", " 1", "-1"}) {
      const ScopedVariable set(variable, wrong);
      expect_refused([] { run(2, [](Team&) {}); },
                     std::string(variable) + " is \"" + wrong + "\"; allowed are 0 and 1");
    }
    const ScopedVariable set(variable, "a value that is much too long for a switch");
    expect_refused([] { run(2, [](Team&) {}); }, "; allowed are 0 and 1");
  }
  for (const char* right : {"0", "1"}) {
    const ScopedVariable set("TUTTI_TRACE", right);
    const std::string text = printed([](Team& team) {
      std::vector<int> data(1);
      allreduce(team, data, Op::Sum);
    });
    EXPECT_EQ(times(text, "chosen by"), *right == '1' ? 1u : 0u);
  }
}

TEST(Tuning, calls_that_insist_in_turn_run_what_each_of_them_says) {
  run_world(2, 0, [](Team& team) {
    std::vector<int> data(500);
    for (int round = 0; round < 3; ++round) {
      for (const std::string algorithm : {"ring", "two_shot", "two_shot:lag=2", "one_shot"}) {
        for (const std::size_t count : {std::size_t{100}, data.size()}) {
          allreduce(team, std::span(data).first(count), Op::Max, {.algorithm = algorithm});
          const std::string ran = last_call(team).algorithm;
          EXPECT_EQ(ran.substr(0, ran.find(':')), algorithm.substr(0, algorithm.find(':')));
          EXPECT_EQ(ran.find("lag=2") != ran.npos, algorithm.find("lag=2") != algorithm.npos);
        }
      }
    }
  });
}

TEST(Tuning, rules_that_come_while_a_call_is_in_flight_leave_its_plan_alone) {
  const RulesFile file(R"({"collective": "allreduce", "algorithm": "two_shot"})");
  run_world(2, 0, [&](Team& team) {
    std::vector<int> in(100'000, team.pe() + 1);
    std::vector<int> out(in.size());
    std::vector<int> other(in.size());
    Request first = start_allreduce(team, in, out, Op::Sum);
    Request second = start_allreduce(team, in, other, Op::Sum, {.algorithm = "ring"});
    load_tuning(team, file.path());
    first.finish();
    second.finish();
    EXPECT_EQ(out, std::vector<int>(in.size(), 3));
    EXPECT_EQ(other, out);
  });
}

}  // namespace
}  // namespace tutti::tests
