// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// An algorithm with its initial parameters, or with staging past the caches, and its time by the
/// cost model.
struct Prediction {
  const Algorithm* algorithm = nullptr;
  Params params;
  double us = 0;
};

/// Of all algorithms that can solve the problem, in the order in which they are preferred: those
/// that stage, simplest first, then those that open the callers' buffers. Algorithms of the
/// program's own, whose `traffic` nobody tests, are among them only if the library has none that
/// can.
std::vector<Prediction> predictions(const Problem& problem, const Catalog& catalog,
                                    const MachineFacts& machine);

/// About what the model is wrong by; see docs/tuning.md, "The cost model".
inline constexpr double kModelMargin = 1.2;

/// The first of `all` that takes at most `kModelMargin` times the least time; nullptr if there are
/// none.
const Prediction* preferred(const std::vector<Prediction>& all);

}  // namespace tutti::detail
