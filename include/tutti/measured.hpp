// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/problem.hpp"

namespace tutti {

/// What happens between the calls of a measurement: the same buffers again; buffers that rotate
/// through more than a cache; memory of the PE's own streamed; one PE late.
enum class Cycle : std::uint8_t { Same, Rotate, Decode, Skew };
inline constexpr std::size_t kCycles = 4;
TUTTI_API std::string_view name_of(Cycle cycle) noexcept;  ///< "same", "rotate", ...
/// The inverse; throws `Error` (InvalidArgument) with the list of valid names.
TUTTI_API Cycle cycle_from(std::string_view name);

/// A median and the interval {low, high} around it at 95 %.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The time of a call in one cycle, in microseconds.
struct CycleTime {
  Cycle cycle = Cycle::Same;
  Interval us;

  friend bool operator==(const CycleTime&, const CycleTime&) = default;
};

/// One candidate of a sweep at one point, and what became of it.
struct MeasuredCandidate {
  enum class Status : std::uint8_t {
    Measured,
    Wrong,    ///< a result differed from the reference
    Failed,   ///< it crashed or threw
    Skipped,  ///< the screening saw that it is too slow
    Hung,     ///< it did not return before the deadline
  };

  std::string choice;  ///< as `parse_choice` reads it: "one_shot:chunk_bytes=64K"
  Status status = Status::Measured;
  std::string reason;  ///< empty where it was measured
  /// Its time / the best one's in each cycle, the geometric mean over the cycles, from the rounds
  /// that choose; 1 is the best in all of them, 0 is not known.
  double regret = 0;
  /// Time of the built-in choice / time of this one over all cycles, from the rounds that report.
  std::optional<Interval> vs_builtin;
  std::vector<CycleTime> times;  ///< from the rounds that report

  friend bool operator==(const MeasuredCandidate&, const MeasuredCandidate&) = default;
};
inline constexpr std::size_t kStatuses = 5;
TUTTI_API std::string_view name_of(MeasuredCandidate::Status status) noexcept;

/// All that a sweep measured for one problem in one regime.
struct MeasuredPoint {
  Collective collective = Collective::Allreduce;
  int pes = 0;
  std::size_t bytes = 0;  ///< `bytes_of`
  DType dtype = DType::F32;
  Op op = Op::Sum;
  Memory memory = Memory::Private;
  Contract contract = Contract::Consistent;
  double line_ns = 0;         ///< median line transfer of its rounds; 0 = could not be measured
  std::uint64_t rounds = 0;   ///< in the cycle that has fewest
  std::uint64_t dropped = 0;  ///< rounds in which the line transfer moved
  double bound_us = 0;        ///< what the bytes need at least; 0 = not known
  std::string builtin;        ///< the built-in choice, one of the candidates
  std::vector<CycleTime> mpi;
  std::vector<MeasuredCandidate> candidates;  ///< simplest first

  friend bool operator==(const MeasuredPoint&, const MeasuredPoint&) = default;
};

/// How a sweep went.
struct SweepFacts {
  struct Revision {
    Collective collective = Collective::Allreduce;
    std::string algorithm;
    std::uint64_t revision = 0;

    friend bool operator==(const Revision&, const Revision&) = default;
  };

  double budget_s = 0;
  double used_s = 0;
  bool complete = false;  ///< false: interrupted, or the budget ended before the grid
  std::vector<Cycle> cycles;
  std::vector<Revision> algorithms;  ///< `Algorithm::revision` of all that were candidates

  friend bool operator==(const SweepFacts&, const SweepFacts&) = default;
};

}  // namespace tutti
