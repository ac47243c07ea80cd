// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/candidates.hpp"

#include <algorithm>
#include <string_view>

namespace tutti::bench {
namespace {

bool has(const Algorithm& algorithm, std::string_view name) {
  return std::ranges::any_of(algorithm.parameters,
                             [&](const Parameter& p) { return p.name == name; });
}

/// Sizes are crossed with kinds of store; what makes no difference at a size is not tried there.
std::vector<std::string> variations(const Algorithm& algorithm, std::size_t bytes) {
  std::vector<std::string> shapes;
  if (has(algorithm, "chunk_bytes")) {
    if (bytes <= 8 << 10) {
      shapes = has(algorithm, "slots")
                   ? std::vector<std::string>{"slots=2", "slots=32", "slots=512"}
                   : std::vector<std::string>{"ring_bytes=16K", "ring_bytes=512K"};
    } else if (bytes <= 128 << 10) {
      shapes = {"ring_bytes=512K", "ring_bytes=2M", "chunk_bytes=64K"};
    } else {
      shapes = {"ring_bytes=512K", "ring_bytes=2M", "chunk_bytes=64K", "chunk_bytes=128K"};
      if (has(algorithm, "lag")) shapes.emplace_back("lag=2");
    }
  }
  std::vector<std::string> all = shapes;
  if (has(algorithm, "store") && bytes >= 1 << 10) {
    all.emplace_back("store=stream");
    for (const std::string& shape : shapes) all.push_back(shape + ",store=stream");
  }
  if (has(algorithm, "results") && bytes >= 2 << 20) {
    all.emplace_back("results=stream");
  }
  return all;
}

}  // namespace

std::vector<std::string> candidates(const Problem& problem) {
  std::vector<std::string> all;
  for (const Algorithm* algorithm : algorithms(problem.collective)) {
    if (algorithm->supports(problem) != nullptr) continue;
    if (problem.contract == Contract::Ordered && !algorithm->keeps_ordered) continue;
    all.emplace_back(algorithm->name);
    for (const std::string& variation : variations(*algorithm, bytes_of(problem))) {
      all.push_back(std::string(algorithm->name) + ':' + variation);
    }
  }
  return all;
}

}  // namespace tutti::bench
