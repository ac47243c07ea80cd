// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/shape.hpp"
#include "bench/tune/choosing.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

// How far the cost model is from what sweeps measured: a table in Markdown. A measured time has its
// producer and consumer in it, so what they touch is added to the prediction, at twice the copy
// bandwidth: a copy touches every byte twice.

namespace tutti::bench {
namespace {

constexpr double kUsualCopyGbps = 35;

double touched_us(const MeasuredPoint& point, const Tuning& file) {
  const Shape shape = shape_of(point.collective);
  const std::size_t elements = point.bytes / size_of(point.dtype);
  const Blocks blocks(elements, point.pes, has_counts(point.collective));
  const int last = point.pes - 1;
  const std::size_t touched =
      in_elements(shape, blocks, last, elements) + out_elements(shape, blocks, last, elements);
  const double copy = file.machine.copy_gbps > 0 ? file.machine.copy_gbps : kUsualCopyGbps;
  return static_cast<double>(touched * size_of(point.dtype)) / (2 * copy * 1e3);
}

bool is_initial_or_streams(const Forced& choice) {
  const Params initial = initial_params(*choice.algorithm);
  for (std::size_t i = 0; i < choice.algorithm->parameters.size(); ++i) {
    const bool store = std::string_view(choice.algorithm->parameters[i].name) == "store";
    if (!store && choice.params[i] != initial[i]) return false;
  }
  return true;
}

using Ratios = std::vector<double>;  ///< larger of predicted and measured / the smaller one

void add(const Tuning& file, std::map<std::string, Ratios>& all) {
  for (const MeasuredPoint& point : file.points) {
    const Problem problem = problem_of(point);
    for (const MeasuredCandidate& candidate : point.candidates) {
      const Forced choice = parse_choice(point.collective, candidate.choice, "candidate");
      const auto same = std::ranges::find(candidate.times, Cycle::Same, &CycleTime::cycle);
      if (same == candidate.times.end() || !is_initial_or_streams(choice)) continue;
      const Explanation said = explain(problem, file, {.call = candidate.choice});
      const double ratio = (said.predicted_us + touched_us(point, file)) / same->us.median;
      all[fmt::format("{} | {}", name_of(point.collective), regime_of(problem.line_ns))].push_back(
          std::max(ratio, 1 / ratio));
    }
  }
}

void print(const std::string& name, Ratios ratios) {
  std::ranges::sort(ratios);
  const auto quantile = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1) + 0.5)];
  };
  fmt::print("| {} | {} | {:.2f} | {:.2f} |\n", name, ratios.size(), quantile(0.5), quantile(0.9));
}

int run(const std::vector<std::string>& paths) {
  std::map<std::string, Ratios> all;
  for (const std::string& path : paths) add(read_tuning(path), all);
  fmt::print("| collective | regime | candidates | median | 90 % |\n|---|---|---|---|---|\n");
  for (auto& [name, ratios] : all) print(name, std::move(ratios));
  return 0;
}

}  // namespace
}  // namespace tutti::bench

int main(int argc, char** argv) {
  const std::vector<std::string> paths(argv + std::min(argc, 1), argv + argc);
  if (paths.empty() || paths[0].starts_with("-")) {
    fmt::print(stderr, "usage: tutti-cost-error FILE...   tuning files of a sweep, with points\n");
    return 2;
  }
  try {
    return tutti::bench::run(paths);
  } catch (const tutti::Error& error) {
    fmt::print(stderr, "tutti-cost-error: {}\n", error.what());
    return 2;
  }
}
