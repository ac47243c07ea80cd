// SPDX-License-Identifier: Apache-2.0
// Every allocation fails in turn, on one PE and on all: an agreed error each time, nothing is
// leaked, and the team goes on.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/environment.hpp"
#include "support/processes.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

constexpr int kPes = 3;
constexpr int kEveryPe = -1;

/// One PE's way through everything that allocates, while one allocation fails somewhere.
class Story {
 public:
  Story(int pe, const Allgather& allgather) : pe_(pe), allgather_(allgather) {}

  /// Where an allocation failed, "" if none did. Throws what is wrong with that.
  std::string tell() {
    stage("start", [&] { team_ = from_bootstrap(pe_, kPes, allgather_); });
    std::vector<ShmemTensor<float>> tensors;
    std::vector<Signals> words;
    std::vector<Team> teams;
    stage("make_tensor", [&] { tensors.push_back(make_tensor<float>(*team_, {1000})); });
    stage("growth", [&] { tensors.push_back(make_tensor<float>(*team_, {1000, 300})); });
    stage("make_signals", [&] { words.push_back(make_signals(*team_, 10)); });
    stage("split", [&] { teams.push_back(team_->split(0)); });
    stage("subteam", [&] { teams.push_back(team_->subteam("all", {2, 1, 0})); });
    stage("ring", [&] { sum(*team_, 100'000, "one_shot:ring_bytes=4M"); });
    for (Team& each : teams) sum(each, 1, "one_line");
    for (const float element : tensors.back().local()) require(element == 0, "not zeroed");
    return failed_in_;
  }

 private:
  static void require(bool good, const std::string& text) {
    if (!good) throw std::runtime_error(text);
  }

  void sum(Team& team, std::size_t count, const char* algorithm) const {
    std::vector<int> data(count, pe_ + 1);
    allreduce(team, data, Op::Sum, {.algorithm = algorithm});
    for (const int each : data) require(each == 6, std::string("wrong sum with ") + algorithm);
  }

  /// Does it; if that fails it must have failed alike on all PEs, and succeed the next time.
  template <class F>
  void stage(const char* name, F&& make) {
    const Caught error = caught(make);
    std::array<char, 512> mine{};
    std::array<std::array<char, 512>, kPes> all{};
    error.text.copy(mine.data(), mine.size() - 1);
    allgather_(mine.data(), mine.size(), all.data());
    for (const auto& theirs : all) {
      require(theirs == mine,
              std::string(name) + ": not agreed: " + error.text + " / " + theirs.data());
    }
    if (error.text.empty()) return;
    const bool not_reached = error.code == ErrorCode::Unsupported;
    require(error.code == ErrorCode::OutOfMemory || (!team_ && not_reached), error.text);
    failed_in_ = name;
    const Caught again = caught(make);
    require(again.text.empty(), std::string(name) + ": not the next time either: " + again.text);
  }

  int pe_;
  const Allgather& allgather_;
  std::optional<Team> team_;
  std::string failed_in_;
};

std::string fault(const std::string& call, int n, int who) {
  return call + ":" + std::to_string(n) + (who == kEveryPe ? "" : ":" + std::to_string(who));
}

/// Tells the story on threads with a bootstrap of the test's own; what `tell` returned or threw.
std::string tell_on_threads() {
  std::barrier meet(kPes);
  std::array<std::vector<std::byte>, kPes> said;
  std::array<std::string, kPes> results;
  const auto be_pe = [&](std::size_t pe) {
    const Allgather allgather = [&, pe](const void* mine, std::size_t bytes, void* all) {
      const auto* first = static_cast<const std::byte*>(mine);
      said[pe].assign(first, first + bytes);
      meet.arrive_and_wait();
      for (std::size_t i = 0; i < said.size(); ++i) {
        std::memcpy(static_cast<std::byte*>(all) + i * bytes, said[i].data(), bytes);
      }
      meet.arrive_and_wait();
    };
    try {
      results[pe] = Story(static_cast<int>(pe), allgather).tell();
    } catch (const std::exception& error) {
      results[pe] = std::string("wrong: ") + error.what();
      meet.arrive_and_drop();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t pe = 0; pe < kPes; ++pe) threads.emplace_back(be_pe, pe);
  }
  return results[0];
}

/// Fails each `call` in turn until none is left; the stages in which one failed.
std::vector<std::string> fail_each_on_threads(const std::string& call, int who) {
  std::vector<std::string> stages;
  for (int n = 1;; ++n) {
    const ScopedVariable variable("TUTTI_FAULT", fault(call, n, who));
    const std::size_t descriptors = open_descriptors();
    const std::size_t mappings = shared_mappings();
    const std::string stage = tell_on_threads();
    EXPECT_EQ(open_descriptors(), descriptors) << call << " " << n;
    EXPECT_EQ(shared_mappings(), mappings) << call << " " << n;
    if (stage.empty() || testing::Test::HasFailure()) return stages;
    stages.push_back(stage);
    if (stage.starts_with("wrong")) return stages;
  }
}

bool holds(const std::vector<std::string>& stages, const std::vector<std::string>& expected) {
  for (const std::string& each : expected) {
    if (std::ranges::find(stages, each) == stages.end()) return false;
  }
  return true;
}

std::string text_of(const std::vector<std::string>& stages) {
  std::string text;
  for (const std::string& each : stages) text += each + "; ";
  return text;
}

using FaultCase = std::tuple<const char*, int>;

std::string name_of_case(const testing::TestParamInfo<FaultCase>& info) {
  const auto& [call, who] = info.param;
  return std::string(call) + (who == kEveryPe ? "_of_all" : "_of_one");
}

class FaultInjection : public testing::TestWithParam<FaultCase> {};
INSTANTIATE_TEST_SUITE_P(Calls, FaultInjection,
                         testing::Combine(testing::Values("memfd", "fallocate", "mmap"),
                                          testing::Values(kEveryPe, 1)),
                         name_of_case);

TEST_P(FaultInjection, of_thread_pes_is_agreed_and_leaks_nothing) {
  if (!kHasPoints) GTEST_SKIP() << "needs TUTTI_DELAY_POINTS";
  const auto& [call, who] = GetParam();
  const auto stages = fail_each_on_threads(call, who);
  EXPECT_EQ(text_of(stages).find("wrong"), std::string::npos) << text_of(stages);
  // What threads share is anonymous memory, but for the control plane.
  EXPECT_TRUE(holds(stages, {"start"})) << text_of(stages);
  EXPECT_EQ(holds(stages, {"growth", "ring"}), std::string(call) == "mmap") << text_of(stages);
}

/// The same between processes; throws what is wrong.
void fail_each_in_process(int pe, const Allgather& allgather, const std::string& call, int who) {
  std::vector<std::string> stages;
  for (int n = 1;; ++n) {
    const ScopedVariable variable("TUTTI_FAULT", fault(call, n, who));
    const std::size_t descriptors = open_descriptors();
    const std::size_t mappings = shared_mappings();
    const std::string stage = Story(pe, allgather).tell();
    std::array<char, kPes> left{};
    allgather("x", 1, left.data());  // peers may still have my descriptors open before
    if (open_descriptors() != descriptors || shared_mappings() != mappings) {
      throw std::runtime_error("leaked after " + fault(call, n, who) + " in " + stage);
    }
    if (stage.empty()) break;
    stages.push_back(stage);
  }
  if (!holds(stages, {"start", "growth", "ring"})) {
    throw std::runtime_error(call + " failed in these only: " + text_of(stages));
  }
}

TEST_P(FaultInjection, of_process_pes_is_agreed_and_leaks_nothing) {
  if (!kHasPoints) GTEST_SKIP() << "needs TUTTI_DELAY_POINTS";
  const auto endings = run_bare_processes(kPes, [&](int pe, const Allgather& allgather) {
    const auto& [call, who] = GetParam();
    fail_each_in_process(pe, allgather, call, who);
  });
  for (const Ending& ending : endings) {
    EXPECT_EQ(ending.error, "");
    EXPECT_EQ(ending.status, 0);
  }
}

}  // namespace
}  // namespace tutti::tests
