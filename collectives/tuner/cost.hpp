// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// What a machine costs: latencies, and bandwidths of one core in 10^9 bytes a second. Which
/// bandwidth a byte has depends on whose lines it goes through: docs/performance.md.
struct CostModel {
  double call_us = 0;      ///< of a call that moves nothing
  double line_us = 0;      ///< until a raised word is seen
  double drain_us = 0;     ///< until what was written past the caches can be read
  double copy_gbps = 0;    ///< one's own memory
  double store_gbps = 0;   ///< staging through the caches
  double cross_gbps = 0;   ///< reading lines that another core wrote
  double stream_gbps = 0;  ///< staging past the caches
  double memory_gbps = 0;  ///< reading what was written past them
  double retake_gbps = 0;  ///< writing lines of the caller's buffers that a peer has used
  double fold_gbps = 0;    ///< input bytes of folds
};

/// What holds for a problem: the figures of `machine` where it has them, else those of the machine
/// on which docs/performance.md was measured, at the problem's line transfer. That of two caches is
/// near or far apart; in between a power law leads from one to the other.
CostModel cost_model(const MachineFacts& machine, const Problem& problem);

/// The model's time of the slowest PE, from `traffic`: line transfers, and bytes over bandwidths.
/// Good for ranking and for an order of magnitude; always shown as predicted.
double predicted_us(const Algorithm& algorithm, const Params& params, const Problem& problem,
                    const CostModel& model);

/// The PEs among which the slowest is, for all algorithms of the library: roots and their children,
/// inner nodes, and who has the remainder.
std::array<int, 5> telling_pes(int pes);

/// Whether it works on the caller's buffers where they are, instead of staging.
bool opens_buffers(const Algorithm& algorithm, const Problem& problem);

/// Index of the parameter `store`, or -1: whether staging may go past the caches.
int store_index(const Algorithm& algorithm);

}  // namespace tutti::detail
