// SPDX-License-Identifier: Apache-2.0
// What a team does with TUTTI_TUNING, TUTTI_ALGORITHM and TUTTI_TRACE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
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

}  // namespace
}  // namespace tutti::tests
