// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/tuning.hpp"

namespace tutti {
namespace {

void compare(std::vector<std::string>& lines, std::string_view what, const std::string& file,
             const std::string& here) {
  if (file.empty() || here.empty() || file == here) return;
  lines.push_back(fmt::format("{}: '{}' in the file, '{}' here", what, file, here));
}

void compare(std::vector<std::string>& lines, std::string_view what, std::uint64_t file,
             std::uint64_t here) {
  if (file == 0 || here == 0 || file == here) return;
  lines.push_back(fmt::format("{}: {} in the file, {} here", what, file, here));
}

}  // namespace

std::vector<std::string> differences(const MachineFacts& file, const MachineFacts& here) {
  std::vector<std::string> lines;
  compare(lines, "cpu", file.cpu, here.cpu);
  compare(lines, "cores", file.cores, here.cores);
  compare(lines, "l2_kib", file.l2_kib, here.l2_kib);
  compare(lines, "l3_kib", file.l3_kib, here.l3_kib);
  compare(lines, "instruction_sets", file.instruction_sets, here.instruction_sets);
  return lines;
}

std::vector<std::string> differences(const Tuning& file, const MachineFacts& here, int pes) {
  std::vector<std::string> lines = differences(file.machine, here);
  const auto covers = [pes](const Rule& rule) {
    return rule.pes.contains(static_cast<std::uint64_t>(pes));
  };
  if (pes > 0 && !file.rules.empty() && std::ranges::none_of(file.rules, covers)) {
    lines.push_back(fmt::format("pes: no rule of the file is about {} PEs", pes));
  }
  return lines;
}

}  // namespace tutti
