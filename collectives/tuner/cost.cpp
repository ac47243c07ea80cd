// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "collectives/tuner/integers.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

// Measured, see docs/performance.md, "What bounds it": of two caches near each other and far apart.
struct Measured {
  double near;
  double far;
};
constexpr Measured kLineNs = {50, 220};
constexpr Measured kStaged = {38, 2.5};   ///< rings have left L2 when they come back
constexpr Measured kCrossing = {39, 16};  ///< dirty in the other core's L2
constexpr Measured kStreamed = {45, 40};
constexpr Measured kFromMemory = {13, 15};
constexpr Measured kPeerHas = {8, 2.5};   ///< writing lines that the peer's L2 still has
constexpr Measured kPeerHad = {38, 4.5};  ///< ... that have left it
constexpr double kCopyGbps = 35;
constexpr double kFoldGbps = 70;
constexpr double kL2Kib = 1024;

constexpr double kCallUs = 0.12;
constexpr double kDrainUs = 0.25;
constexpr double kUsualLineNs = 100;
/// Of longer vectors `traffic` need not walk through all the chunks.
constexpr std::size_t kLongestBytes = std::size_t{8} << 20;
constexpr double kLinesInFlight = 16;  ///< words of peers that one core awaits at once
/// What lies in other lines than its word arrives after it, sooner than a line transfer later, for
/// its lines are asked for before the word is seen.
constexpr double kDataAfterWord = 0.6;

/// 0 where near was measured, 1 where far was, on a logarithmic scale.
double distance_of(double line_ns) {
  return std::clamp(std::log(line_ns / kLineNs.near) / std::log(kLineNs.far / kLineNs.near), 0.0,
                    1.0);
}

double between(const Measured& measured, double share) {
  return measured.near * std::pow(measured.far / measured.near, share);
}

/// Farther apart than was measured, as many lines are in flight for longer.
double crossing(const Measured& measured, double line_ns) {
  return between(measured, distance_of(line_ns)) * std::min(1.0, kLineNs.far / line_ns);
}

/// How much of a PE's buffers has left its L2 since the last call: none if they take half of it,
/// all if twice as much.
double evicted(const Problem& problem, double l2_kib) {
  const auto block = static_cast<double>(problem.count * element_bytes(problem));
  const double buffers = static_cast<double>(bytes_of(problem)) + block;
  return std::clamp(0.5 + 0.5 * std::log2(std::max(buffers, 1.0) / (l2_kib * 1024)), 0.0, 1.0);
}

/// 10^9 bytes a second are 10^3 bytes a microsecond.
double transfer_us(double bytes, double gbps) { return bytes / (gbps * 1e3); }

/// How an algorithm moves its bytes.
struct Manner {
  double store_gbps = 0;
  double load_gbps = 0;
  double drain_us = 0;     ///< of each piece that is staged
  double line_us = 0;      ///< a raised word, and what it publishes
  double chunk_bytes = 0;  ///< of what is staged before it is read
};

Manner manner_of(const Algorithm& algorithm, const Params& params, const Problem& problem,
                 const CostModel& model) {
  Manner manner{model.store_gbps, model.cross_gbps, 0, model.line_us, INFINITY};
  const int store = store_index(algorithm);
  const int chunk = parameter_index(algorithm, "chunk_bytes");
  if (chunk >= 0) {
    manner.chunk_bytes =
        static_cast<double>(std::max(params[static_cast<std::size_t>(chunk)], std::int64_t{1}));
  }
  if (opens_buffers(algorithm, problem)) {
    // Whoever wrote the lines that I read takes them back when it writes them again.
    const double again = std::max(0.0, 1 / model.retake_gbps - 1 / model.copy_gbps);
    manner.store_gbps = model.retake_gbps;
    manner.load_gbps = 1 / (1 / model.cross_gbps + again);
  } else if (store >= 0 && params[static_cast<std::size_t>(store)] != 0) {
    manner.store_gbps = model.stream_gbps;
    manner.load_gbps = model.memory_gbps;
    manner.drain_us = model.drain_us;
  }
  const bool staged = algorithm.scratch_bytes(problem, params) != 0;
  if (staged) manner.line_us *= 1 + kDataAfterWord;
  return manner;
}

/// The pieces that a PE stages in a step: one, or one for each other PE.
double pieces_of(const Problem& problem) {
  switch (problem.collective) {
    case Collective::ReduceScatter:
    case Collective::Scatter:
    case Collective::Alltoall:
    case Collective::ReduceScatterv:
    case Collective::Alltoallv:
    case Collective::Scatterv:
      return std::max(problem.pes - 1, 1);
    default:
      return 1;
  }
}

Traffic traffic_of(const Algorithm& algorithm, const Params& params, const Problem& problem,
                   int pe) {
  const std::size_t parts = std::max(bytes_of(problem) / kLongestBytes, std::size_t{1});
  Problem part = problem;
  part.count = problem.count / parts;
  Traffic traffic = algorithm.traffic(part, params, pe);
  for (std::uint64_t Traffic::*each :
       {&Traffic::words, &Traffic::bytes_stored, &Traffic::bytes_loaded, &Traffic::bytes_folded}) {
    traffic.*each *= parts;
  }
  return traffic;
}

/// A PE's own block is copied wherever the others' are.
double copied_bytes(const Problem& problem) {
  const bool copies = has_blocks(problem.collective) && !reduces(problem.collective);
  return copies ? static_cast<double>(problem.count * element_bytes(problem)) : 0;
}

}  // namespace

CostModel cost_model(const MachineFacts& machine, const Problem& problem) {
  double line_ns = problem.line_ns > 0 ? problem.line_ns : machine.line_ns;
  if (line_ns <= 0) line_ns = kUsualLineNs;
  const double evicted_share =
      evicted(problem, machine.l2_kib > 0 ? static_cast<double>(machine.l2_kib) : kL2Kib);
  const double distance = distance_of(line_ns);
  CostModel model;
  model.call_us = kCallUs;
  model.line_us = line_ns / 1e3;
  model.drain_us = kDrainUs;
  model.copy_gbps = machine.copy_gbps > 0 ? machine.copy_gbps : kCopyGbps;
  model.store_gbps = std::min(crossing(kStaged, line_ns), model.copy_gbps);
  // What was measured of crossing lines holds for the regime in which it was.
  const bool same_regime =
      regime_of(static_cast<int>(machine.line_ns)) == regime_of(static_cast<int>(line_ns));
  model.cross_gbps =
      machine.cross_gbps > 0 && same_regime ? machine.cross_gbps : crossing(kCrossing, line_ns);
  model.stream_gbps = between(kStreamed, distance);
  model.memory_gbps = between(kFromMemory, distance);
  model.retake_gbps = std::pow(crossing(kPeerHas, line_ns), 1 - evicted_share) *
                      std::pow(crossing(kPeerHad, line_ns), evicted_share);
  model.fold_gbps = machine.fold_gbps > 0 ? machine.fold_gbps : kFoldGbps;
  return model;
}

std::array<int, 5> telling_pes(int pes) {
  return {0, std::min(1, pes - 1), std::min(2, pes - 1), pes / 2, pes - 1};
}

double predicted_us(const Algorithm& algorithm, const Params& params, const Problem& problem,
                    const CostModel& model) {
  const Manner manner = manner_of(algorithm, params, problem, model);
  const std::array<int, 5> pes = telling_pes(problem.pes);
  std::array<Traffic, 5> traffic;
  double most_stored = 0;
  double most_loaded = 0;
  for (std::size_t i = 0; i < pes.size(); ++i) {
    traffic[i] = traffic_of(algorithm, params, problem, pes[i]);
    most_stored = std::max(most_stored, static_cast<double>(traffic[i].bytes_stored));
    most_loaded = std::max(most_loaded, static_cast<double>(traffic[i].bytes_loaded));
  }
  const double steps = std::max(most_stored / manner.chunk_bytes, 1.0);
  double slowest = 0;
  for (const Traffic& mine : traffic) {
    const auto stored = static_cast<double>(mine.bytes_stored);
    // Whoever stages less than others waits for their first chunk.
    const double awaited = std::min(manner.chunk_bytes, most_stored - stored);
    slowest = std::max(slowest,
                       static_cast<double>(mine.words) * manner.line_us +
                           transfer_us(stored + awaited, manner.store_gbps) +
                           transfer_us(static_cast<double>(mine.bytes_loaded), manner.load_gbps) +
                           transfer_us(static_cast<double>(mine.bytes_folded), model.fold_gbps));
  }
  const int hops = algorithm.hops == nullptr ? 1 : algorithm.hops(problem, params);
  const double chunk = std::min({manner.chunk_bytes, most_stored, most_loaded});
  const double hop_us =
      manner.line_us + transfer_us(chunk, manner.store_gbps) + transfer_us(chunk, manner.load_gbps);
  return model.call_us + steps * pieces_of(problem) * manner.drain_us +
         (problem.pes - 1) / kLinesInFlight * model.line_us + slowest +
         std::max(hops - 1, 0) * hop_us + transfer_us(copied_bytes(problem), model.copy_gbps);
}

bool opens_buffers(const Algorithm& algorithm, const Problem& problem) {
  if (problem.memory == Memory::Private && !problem.shared_address_space) return false;
  Problem apart = problem;
  apart.memory = Memory::Private;
  apart.shared_address_space = false;
  return algorithm.supports(problem) == nullptr && algorithm.supports(apart) != nullptr;
}

int store_index(const Algorithm& algorithm) { return parameter_index(algorithm, "store"); }

}  // namespace tutti::detail
