// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "bench/workload.hpp"

namespace tutti::bench {

/// One of the ways to do a cell's collective.
struct Contender {
  std::string name;
  std::function<void(const Workload&, const Workload::Buffers&)> run;
  bool collective = true;    ///< false: touches the data only
  bool keeps_order = false;  ///< promises `Contract::Ordered`: verified with data that show it
  std::function<void()> begins = {};  ///< if any: called by each PE before a few calls
  /// What it works on instead of the measured cell's data, if not nullptr.
  std::shared_ptr<const Workload> own = nullptr;
};

/// How much is measured. Equal on all PEs.
struct Effort {
  int rounds = 15;      ///< blocks of each contender
  double block_ms = 2;  ///< length of a block, as measured on the slowest contender
  double seconds = 0;   ///< stop early after so long; 0 = never
  int least = 0;        ///< but not before so many rounds, steady or not
  /// Stop early when PE 0 sees it set; nullptr = never.
  const std::atomic<bool>* interrupted = nullptr;
};

/// An `Error` during the calls of a contender. The team that ran it can be used no more.
struct ContenderFailed : Error {
  ContenderFailed(std::size_t index, const Error& error)
      : Error(error.code(), error.what()), contender(index) {}
  std::size_t contender;
};

/// What was measured: times are of one cycle (produce, collective, consume; what `Cycle::Decode`
/// does in between is not counted), the slowest PE's, in seconds, one entry a block; `seconds[i]`
/// belongs to contender i.
struct Measurement {
  std::vector<std::vector<double>> seconds;
  std::vector<double> line_ns;  ///< calibration of each kept round
  std::vector<std::size_t> wrong;
  int dropped = 0;  ///< rounds whose calibration brackets differed by > 15 %
};

/// Measures contenders interleaved: each round runs a block of each, in an order shuffled alike on
/// all PEs, between two calibrations. Before that every contender is verified on every element with
/// one PE late, and those that keep an order on sums that show it; in every timed call some
/// elements are checked. Collective. Errors: `ContenderFailed`; the PEs may name different
/// contenders, the first is to blame.
Measurement measure(Team& team, const Workload& work, const std::vector<Contender>& contenders,
                    const Effort& effort);

/// The largest of a number over all PEs. Collective.
double largest(Team& team, double value);
/// The smallest of a number over all PEs. Collective.
double smallest(Team& team, double value);
/// PE 0's number. Collective.
double first(Team& team, double value);

Contender touch_only();
/// Tutti's own call, with an algorithm ("" = the tuner's choice) and a deadline (0 = the team's).
Contender tutti_call(Team& team, std::string algorithm, Contract contract,
                     std::chrono::milliseconds deadline = {});

/// What a cell cannot beat, and what the cost model goes by: 10^9 bytes a second of one core, with
/// buffers that fit in its L2.
struct MachineSpeed {
  double copy_gbps = 0;   ///< copying its own memory
  double cross_gbps = 0;  ///< copying lines that another core has just written; 0 for one PE
  double fold_gbps = 0;   ///< f32 sum of two vectors, by the library's kernel: bytes of both
};
/// Measures all of them, about 20 ms. Collective.
MachineSpeed measure_speed(Team& team);
/// nccl-tests' factor from algorithm to bus bandwidth: the share of a cell's bytes that must cross.
double bus_factor(Collective collective, int pes);
/// Seconds that the cell's bytes need at least: the larger of local bytes over copy bandwidth and
/// crossing bytes over dirty-line bandwidth, and one line transfer.
double bound_seconds(const Cell& cell, const Team& team, const MachineSpeed& speed, double line_ns);

}  // namespace tutti::bench
