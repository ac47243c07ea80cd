// SPDX-License-Identifier: Apache-2.0
#include "primitives/machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/tuning.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

/// Extensions that change how fast kernels are, by their names in /proc/cpuinfo (x86, then Arm).
constexpr std::array<std::string_view, 18> kInstructionSets = {
    "sse4_2",   "avx",      "f16c",        "fma",         "avx2",     "avx512f",
    "avx512bw", "avx512vl", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16",
    "asimd",    "asimdhp",  "bf16",        "i8mm",        "sve",      "sve2"};

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology load_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return {nullptr, &hwloc_topology_destroy};
  Topology owned(topology, &hwloc_topology_destroy);
  if (hwloc_topology_load(topology) != 0) owned.reset();
  return owned;
}

/// The field of the first processor in /proc/cpuinfo, or empty.
std::string cpuinfo(std::string_view field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t last = line.find_last_not_of(" \t", colon - 1);
    if (line.substr(0, last + 1) == field) return line.substr(std::min(colon + 2, line.size()));
  }
  return {};
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out.push_back(c < ' ' || c > '~' ? '?' : c);
  const std::size_t first = out.find_first_not_of(' ');
  return first == std::string::npos ? "" : out.substr(first, out.find_last_not_of(' ') - first + 1);
}

std::string cpu_model(hwloc_topology_t topology) {
  if (topology != nullptr) {
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE}) {
      const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, 0);
      const char* name = object ? hwloc_obj_get_info_by_name(object, "CPUModel") : nullptr;
      if (name != nullptr) return printable(name);
    }
  }
  const std::string name = cpuinfo("model name");
  if (!name.empty()) return printable(name);
  const std::string part = cpuinfo("CPU part");
  if (!part.empty()) {
    return printable(fmt::format("implementer {} part {}", cpuinfo("CPU implementer"), part));
  }
  utsname system{};
  return uname(&system) == 0 ? printable(system.machine) : "";
}

std::uint64_t cache_kib(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
  return cache != nullptr ? cache->attr->cache.size / 1024 : 0;
}

std::string instruction_sets() {
  std::string flags = cpuinfo("flags");
  if (flags.empty()) flags = cpuinfo("Features");
  std::istringstream words(flags);
  std::vector<std::string> present;
  for (std::string word; words >> word;) present.push_back(word);
  std::string text;
  for (const std::string_view name : kInstructionSets) {
    if (std::ranges::find(present, name) == present.end()) continue;
    text.append(text.empty() ? "" : " ").append(name);
  }
  return text;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace

MachineFacts this_machine() {
  const Topology topology = load_topology();
  MachineFacts machine;
  machine.cpu = cpu_model(topology.get());
  if (topology != nullptr) {
    const int cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
    const int units = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU);
    machine.cores = static_cast<std::uint64_t>(std::max(cores > 0 ? cores : units, 0));
    machine.l2_kib = cache_kib(topology.get(), HWLOC_OBJ_L2CACHE);
    machine.l3_kib = cache_kib(topology.get(), HWLOC_OBJ_L3CACHE);
  }
  machine.instruction_sets = instruction_sets();
  machine.tutti = version();
  machine.date = now_utc();
  return machine;
}

namespace detail {

std::string machine_text(const MachineFacts& machine) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n", machine.cpu, machine.cores, machine.l2_kib,
                     machine.l3_kib, machine.instruction_sets);
}

MachineFacts machine_from_text(const std::string& text) {
  std::istringstream lines(text);
  MachineFacts machine;
  std::string number;
  const auto count = [&] {
    std::getline(lines, number);
    return std::strtoull(number.c_str(), nullptr, 10);
  };
  std::getline(lines, machine.cpu);
  machine.cores = count();
  machine.l2_kib = count();
  machine.l3_kib = count();
  std::getline(lines, machine.instruction_sets);
  return machine;
}

}  // namespace detail
}  // namespace tutti
