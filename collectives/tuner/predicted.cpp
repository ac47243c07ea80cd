// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/predicted.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "collectives/tuner/cost.hpp"
#include "collectives/tuner/select.hpp"

namespace tutti::detail {
namespace {

bool is_of_library(const Algorithm* algorithm) {
  return std::ranges::find(algorithms(algorithm->collective), algorithm) !=
         algorithms(algorithm->collective).end();
}

std::vector<const Algorithm*> able(const Problem& problem, const Catalog& catalog) {
  std::vector<const Algorithm*> all;
  for (const Algorithm* algorithm : catalog.of(problem.collective)) {
    if (why_not(*algorithm, problem) == nullptr) all.push_back(algorithm);
  }
  if (std::ranges::any_of(all, is_of_library)) std::erase_if(all, std::not_fn(is_of_library));
  // Not std::ranges': clang 14 does not take libstdc++'s.
  std::stable_partition(all.begin(), all.end(), [&](const Algorithm* algorithm) {
    return !opens_buffers(*algorithm, problem);
  });
  return all;
}

}  // namespace

std::vector<Prediction> predictions(const Problem& problem, const Catalog& catalog,
                                    const MachineFacts& machine) {
  const CostModel model = cost_model(machine, problem);
  std::vector<Prediction> all;
  const auto add = [&](const Algorithm& algorithm, const Params& params) {
    all.push_back({&algorithm, params, predicted_us(algorithm, params, problem, model)});
  };
  for (const Algorithm* algorithm : able(problem, catalog)) {
    Params params = initial_params(*algorithm);
    add(*algorithm, params);
    const int store = store_index(*algorithm);
    if (store < 0) continue;
    params[static_cast<std::size_t>(store)] = 1;
    add(*algorithm, params);
  }
  return all;
}

const Prediction* preferred(const std::vector<Prediction>& all) {
  if (all.empty()) return nullptr;
  const double least = std::ranges::min_element(all, {}, &Prediction::us)->us;
  return &*std::ranges::find_if(
      all, [&](const Prediction& each) { return each.us <= kModelMargin * least; });
}

}  // namespace tutti::detail
