// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/cost.hpp"

#include <algorithm>
#include <cstdint>

#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

constexpr double kCallUs = 0.02;
constexpr double kUsualLineNs = 100;
constexpr double kUsualCopyGbps = 10;
constexpr double kLineBytes = 64;
constexpr double kLinesInFlight = 16;  ///< line transfers that one core overlaps
constexpr double kFoldPerCopy = 1.5;   ///< a fold of inputs in cache against a copy

/// 10^9 bytes a second are 10^3 bytes a microsecond.
double transfer_us(std::uint64_t bytes, double gbps) {
  return static_cast<double>(bytes) / (gbps * 1e3);
}

double time_of(const Traffic& traffic, const Problem& problem, const CostModel& model) {
  const double peers = std::max(problem.pes - 1, 0);
  const double words = static_cast<double>(traffic.words) + peers / kLinesInFlight;
  return model.call_us + words * model.line_us +
         transfer_us(traffic.bytes_stored, model.copy_gbps) +
         transfer_us(traffic.bytes_loaded, model.cross_gbps) +
         transfer_us(traffic.bytes_folded, model.fold_gbps);
}

}  // namespace

CostModel cost_model(const MachineFacts& machine, const Problem& problem) {
  double line_ns = problem.line_ns > 0 ? problem.line_ns : machine.line_ns;
  if (line_ns <= 0) line_ns = kUsualLineNs;
  CostModel model;
  model.call_us = kCallUs;
  model.line_us = line_ns / 1e3;
  model.copy_gbps = machine.copy_gbps > 0 ? machine.copy_gbps : kUsualCopyGbps;
  model.cross_gbps = std::min(model.copy_gbps, kLinesInFlight * kLineBytes / line_ns);
  model.fold_gbps = model.copy_gbps * kFoldPerCopy;
  return model;
}

double predicted_us(const Algorithm& algorithm, const Params& params, const Problem& problem,
                    const CostModel& model) {
  constexpr int kMostPes = 16;
  const int step = std::max(problem.pes / kMostPes, 1);
  double slowest = 0;
  for (int pe = 0; pe < problem.pes; pe += step) {
    const Traffic traffic = algorithm.traffic(problem, params, pe);
    slowest = std::max(slowest, time_of(traffic, problem, model));
  }
  return slowest;
}

}  // namespace tutti::detail
