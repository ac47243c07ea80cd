// SPDX-License-Identifier: Apache-2.0
// Memory that ends sooner than the machine's: control groups, and a small /dev/shm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "support/processes.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A memory control group of the test's own, of either version; gone with it.
class MemoryGroup {
 public:
  static std::optional<fs::path> make(std::size_t limit_bytes) {
    const std::string name = "tutti_test_" + std::to_string(getpid());
    struct Place {
      const char* parent;
      const char* limit;
    };
    for (const Place place : {Place{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                              Place{"/sys/fs/cgroup", "memory.max"}}) {
      std::error_code error;
      const fs::path group = fs::path(place.parent) / name;
      if (!fs::exists(fs::path(place.parent) / "cgroup.procs")) continue;
      if (!fs::create_directory(group, error)) continue;
      std::ofstream limit(group / place.limit);
      if (limit << limit_bytes << std::flush) return group;
      fs::remove(group, error);
    }
    return std::nullopt;
  }

  explicit MemoryGroup(fs::path path) : path_(std::move(path)) {}
  ~MemoryGroup() {
    std::error_code error;
    fs::remove(path_, error);
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  void join() const { std::ofstream(path_ / "cgroup.procs") << getpid() << std::flush; }
  std::string name() const { return path_.filename(); }

 private:
  fs::path path_;
};

TEST(Limits, a_control_group_is_an_agreed_error_before_it_kills) {
  const auto path = MemoryGroup::make(160 * kMiB);
  if (!path) GTEST_SKIP() << "this user may not make a memory control group";
  const MemoryGroup group(*path);
  const auto endings = run_processes(2, [&](Team& team, FaultClock&) {
    group.join();
    team.barrier();
    std::string text;
    try {
      make_tensor<char>(team, {200 * kMiB});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
      text = error.what();
    }
    EXPECT_THAT(text, HasSubstr(group.name()));
    EXPECT_THAT(text, HasSubstr("leaves"));
    // Small: a sanitizer pays several times for each byte, in the same group.
    auto fits = make_tensor<char>(team, {2 * kMiB});
    std::ranges::fill(fits.local(), 'x');
    team.barrier();
    if (::testing::Test::HasFailure()) throw std::runtime_error("see above: " + text);
  });
  for (const Ending& ending : endings) EXPECT_EQ(ending.error, "");
}

TEST(Limits, symmetric_memory_takes_nothing_from_dev_shm) {
  const auto files = [] {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator("/dev/shm")) names.push_back(entry.path());
    return names;
  };
  const auto free_before = fs::space("/dev/shm").free;
  const auto endings = run_processes(2, [&](Team& team, FaultClock&) {
    auto large = make_tensor<char>(team, {96 * kMiB});  // more than a container's 64 MiB
    std::ranges::fill(large.local(), 'x');
    team.barrier();
    if (fs::space("/dev/shm").free + 64 * kMiB < free_before) {
      throw std::runtime_error("the heap lies in /dev/shm");
    }
    team.barrier();
  });
  for (const Ending& ending : endings) EXPECT_EQ(ending.error, "");
  for (const std::string& name : files()) EXPECT_THAT(name, ::testing::Not(HasSubstr("tutti")));
}

}  // namespace
}  // namespace tutti::tests
