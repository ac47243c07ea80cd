// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a test does to the environment of the worlds that it starts, and what it sees of the
// resources of its own process.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tutti::tests {

/// A variable, as long as this lives. Make it where there is one thread.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~ScopedVariable() { unsetenv(name_.c_str()); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
};

/// The named points and the faults on demand exist in the presets dev, asan and tsan alone.
#ifdef TUTTI_DELAY_POINTS
inline constexpr bool kHasPoints = true;
#else
inline constexpr bool kHasPoints = false;
#endif

/// Open descriptors of this process.
inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
}

/// Mappings of memory that this process could share: Tutti's segments, and nobody else's here.
inline std::size_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    const bool memfd = line.find("memfd:tutti") != std::string::npos;
    count += memfd || line.find("/dev/zero") != std::string::npos ? 1 : 0;
  }
  return count;
}

/// Pages that this process has in memory.
inline std::size_t resident_pages() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

/// Names in /dev/shm that could be Tutti's.
inline std::vector<std::string> names_in_dev_shm() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename().string();
    if (name.find("tutti") != std::string::npos) all.push_back(name);
  }
  return all;
}

}  // namespace tutti::tests
