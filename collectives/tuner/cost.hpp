// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// What the simplest model of a machine needs: one latency and three bandwidths.
struct CostModel {
  double call_us = 0;     ///< of a call that moves nothing
  double line_us = 0;     ///< until a raised word is seen
  double copy_gbps = 0;   ///< payload stored, in 10^9 bytes a second
  double cross_gbps = 0;  ///< payload loaded that another core wrote
  double fold_gbps = 0;   ///< input bytes of folds
};

/// From the calibration of a machine; the regime is the problem's `line_ns`, if known.
CostModel cost_model(const MachineFacts& machine, const Problem& problem);

/// The model's time of the slowest PE: call + words * line + bytes / bandwidths. Good for ranking
/// and for an order of magnitude; always shown as predicted.
double predicted_us(const Algorithm& algorithm, const Params& params, const Problem& problem,
                    const CostModel& model);

}  // namespace tutti::detail
