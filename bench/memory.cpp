// SPDX-License-Identifier: Apache-2.0
#include "bench/memory.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>

#include "tutti/tutti.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;

/// KiB of huge pages in the mapping that holds `at`, and its size, as the system accounts them.
std::string huge_pages_at(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  std::ifstream in("/proc/self/smaps");
  bool here = false;
  std::uint64_t huge = 0;
  std::uint64_t size = 0;
  for (std::string line; std::getline(in, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      here = begin <= address && address < end;
      continue;
    }
    std::istringstream words(line);
    std::string key;
    std::uint64_t kib = 0;
    if (!here || !(words >> key >> kib)) continue;
    if (key == "Size:") size = kib;
    const bool counts = key == "AnonHugePages:" || key == "ShmemPmdMapped:" ||
                        key == "FilePmdMapped:" || key == "Shared_Hugetlb:";
    if (counts) huge += kib;
  }
  return fmt::format("{} of {} KiB in huge pages", huge, size);
}

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};

/// The NUMA nodes that hold the range.
std::string nodes_of(const void* at, std::size_t bytes) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return "unknown";
  const std::unique_ptr<hwloc_topology, Destroy> topology(made);
  const std::unique_ptr<hwloc_bitmap_s, Destroy> set(hwloc_bitmap_alloc());
  if (hwloc_topology_load(topology.get()) != 0 ||
      hwloc_get_area_memlocation(topology.get(), at, bytes, set.get(), HWLOC_MEMBIND_BYNODESET) !=
          0) {
    return "unknown";
  }
  std::array<char, 64> text{};
  hwloc_bitmap_list_snprintf(text.data(), text.size(), set.get());
  return text.data();
}

}  // namespace

std::vector<std::string> memory_of_all(Team& team) {
  constexpr std::size_t kText = 192;
  auto tensor = make_tensor<char>(team, {kBytes}, {}, {.alignment = 4096});
  const int next = (team.pe() + 1) % team.size();
  std::string mine =
      fmt::format("PE {}: own mapping {}, NUMA node {}", team.pe(),
                  huge_pages_at(tensor.local().data()), nodes_of(tensor.local().data(), kBytes));
  if (const char* peer = tensor.unsafe_peer(next); next != team.pe() && peer != nullptr) {
    mine += fmt::format("; PE {}'s as mapped here {}", next, huge_pages_at(peer));
  }
  mine.resize(kText, ' ');
  std::vector<std::uint8_t> all(kText * static_cast<std::size_t>(team.size()));
  allgather(team, std::vector<std::uint8_t>(mine.begin(), mine.end()), all);
  std::vector<std::string> lines;
  for (int pe = 0; pe < team.size(); ++pe) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(kText * static_cast<std::size_t>(pe));
    std::string line(at, at + static_cast<std::ptrdiff_t>(kText));
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tutti::bench
