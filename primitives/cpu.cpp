// SPDX-License-Identifier: Apache-2.0
#include "primitives/cpu.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/team.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<double> number_in(const fs::path& file) {
  const auto line = first_line(file);
  if (!line) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(line->c_str(), &end);
  if (end == line->c_str()) return std::nullopt;  // "max"
  return value;
}

struct CgroupPath {
  fs::path root;  ///< where the hierarchy is mounted
  fs::path leaf;  ///< the group of this process, below `root`
};

/// The group of this process in version 2 (`controller` empty) or in a controller of version 1.
std::optional<CgroupPath> cgroup_of(std::string_view controller) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = ',' + line.substr(first + 1, second - first - 1) + ',';
    if (controller.empty() ? names != ",,"
                           : names.find(',' + std::string(controller) + ',') == std::string::npos) {
      continue;
    }
    const fs::path root =
        controller.empty() ? fs::path("/sys/fs/cgroup") : fs::path("/sys/fs/cgroup") / controller;
    return CgroupPath{root, fs::path(line.substr(second + 1)).relative_path()};
  }
  return std::nullopt;
}

/// The group of this process and every group around it; inside a container the path may not be
/// visible, then the mount itself is the group.
std::vector<fs::path> levels(std::string_view controller) {
  std::vector<fs::path> all;
  const auto group = cgroup_of(controller);
  if (!group) return all;
  for (fs::path at = group->root / group->leaf;; at = at.parent_path()) {
    if (fs::exists(at)) all.push_back(at);
    if (at == group->root || at == at.root_path()) break;
  }
  if (all.empty() || all.back() != group->root) all.push_back(group->root);
  return all;
}

void tighten(MemoryRoom& room, std::optional<double> limit, std::optional<double> used,
             const fs::path& where) {
  if (!limit || !used) return;
  const double free = std::max(0.0, *limit - *used);
  if (free < static_cast<double>(room.bytes)) {
    room = {static_cast<std::size_t>(free), where.string()};
  }
}

/// A group's page cache can be given back; memory that is in use cannot.
double inactive_file(const fs::path& group, std::string_view key) {
  std::ifstream in(group / "memory.stat");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
      return std::strtod(line.c_str() + key.size(), nullptr);
    }
  }
  return 0;
}

}  // namespace

cpu_set_t affinity() noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) CPU_SET(0, &mask);
  return mask;
}

double cgroup_cpu_quota() {
  double quota = std::numeric_limits<double>::infinity();
  for (const fs::path& group : levels("")) {
    const auto line = first_line(group / "cpu.max");
    double allowed = 0;
    double period = 0;
    if (line && std::istringstream(*line) >> allowed >> period && period > 0) {
      quota = std::min(quota, allowed / period);
    }
  }
  for (const fs::path& group : levels("cpu")) {
    const auto allowed = number_in(group / "cpu.cfs_quota_us");
    const auto period = number_in(group / "cpu.cfs_period_us");
    if (allowed && period && *allowed > 0 && *period > 0) {
      quota = std::min(quota, *allowed / *period);
    }
  }
  return std::isinf(quota) ? 0 : quota;
}

MemoryRoom memory_room() {
  MemoryRoom room{std::numeric_limits<std::size_t>::max(), "no limit"};
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("MemAvailable:")) continue;
    room = {static_cast<std::size_t>(std::strtoull(line.c_str() + 13, nullptr, 10)) << 10,
            "MemAvailable of /proc/meminfo"};
  }
  for (const fs::path& group : levels("")) {
    const auto used = number_in(group / "memory.current");
    tighten(room, number_in(group / "memory.max"),
            used ? std::optional(*used - inactive_file(group, "inactive_file")) : std::nullopt,
            group / "memory.max");
  }
  for (const fs::path& group : levels("memory")) {
    const auto used = number_in(group / "memory.usage_in_bytes");
    tighten(
        room, number_in(group / "memory.limit_in_bytes"),
        used ? std::optional(*used - inactive_file(group, "total_inactive_file")) : std::nullopt,
        group / "memory.limit_in_bytes");
  }
  return room;
}

}  // namespace tutti::detail

namespace tutti {

int usable_cpus() {
  const cpu_set_t mask = detail::affinity();
  const int by_mask = std::max(1, CPU_COUNT(&mask));
  const double quota = detail::cgroup_cpu_quota();
  if (quota <= 0) return by_mask;
  return std::clamp(static_cast<int>(std::ceil(quota)), 1, by_mask);
}

}  // namespace tutti
