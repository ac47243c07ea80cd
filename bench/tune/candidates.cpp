// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/candidates.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tutti::bench {
namespace {

bool has(const Algorithm& algorithm, std::string_view name) {
  return std::ranges::any_of(algorithm.parameters,
                             [&](const Parameter& p) { return p.name == name; });
}

/// Sizes are crossed with kinds of store.
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
  if (has(algorithm, "fanout")) shapes.insert(shapes.end(), {"fanout=4", "fanout=8"});
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

/// Whether two choices of an algorithm do the same here: `slots` and `ring_bytes` only make the
/// ring that calls walk through, chunks larger than the data are one, and nobody has more children
/// than there are other PEs.
bool do_the_same(const Algorithm& algorithm, const Problem& problem, const Params& a,
                 const Params& b) {
  for (const Parameter& parameter : algorithm.parameters) {
    const std::string_view name = parameter.name;
    if (name == "slots" || name == "ring_bytes" || name == "chunk_bytes") continue;
    const auto i = static_cast<std::size_t>(&parameter - algorithm.parameters.data());
    const std::int64_t most = name == "fanout" ? problem.pes - 1 : parameter.max;
    if (std::min(a[i], most) != std::min(b[i], most)) return false;
  }
  return algorithm.scratch_bytes(problem, a) == algorithm.scratch_bytes(problem, b) &&
         algorithm.traffic(problem, a, 0).words == algorithm.traffic(problem, b, 0).words;
}

}  // namespace

std::vector<std::string> candidates(const Problem& problem) {
  std::vector<std::string> all;
  for (const Algorithm* algorithm : algorithms(problem.collective)) {
    if (algorithm->supports(problem) != nullptr) continue;
    if (problem.contract == Contract::Ordered && !algorithm->keeps_ordered) continue;
    all.emplace_back(algorithm->name);
    std::vector<Params> different = {parse_choice(problem.collective, all.back(), "sweep").params};
    for (const std::string& variation : variations(*algorithm, bytes_of(problem))) {
      const std::string choice = std::string(algorithm->name) + ':' + variation;
      const Params params = parse_choice(problem.collective, choice, "sweep").params;
      const bool known = std::ranges::any_of(different, [&](const Params& other) {
        return do_the_same(*algorithm, problem, params, other);
      });
      if (known) continue;
      different.push_back(params);
      all.push_back(choice);
    }
  }
  return all;
}

}  // namespace tutti::bench
