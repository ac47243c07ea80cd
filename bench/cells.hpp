// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "bench/workload.hpp"

namespace tutti::bench {

struct NamedCell {
  std::string name;
  std::string algorithm;  ///< empty: the tuner's choice
  Cell cell;
};

/// The cells that have a benchmark: every algorithm of every registry and "auto", for 8 B to 64
/// MiB.
std::vector<NamedCell> all_cells(const Team& team, Cycle cycle);

/// What a call of this cell runs, as "algorithm:parameters". Local.
std::string chosen(const Team& team, const Cell& cell, const std::string& algorithm);
/// What a call of this cell that leaves the choice open would run now, and why: the text of
/// `explain`. Local.
std::string why(const Team& team, const Cell& cell);

enum class Primitive : std::uint8_t {
  Barrier,
  Decision,
  DecisionInTurn,
  PutSelf,
  Wait,
  PutSignal,
  PutSignalOwnWord,
  Put,
  PutTiled,
  Get
};

struct NamedPrimitive {
  std::string name;
  Primitive what;
  std::size_t bytes = 0;
};
std::vector<NamedPrimitive> all_primitives(const Team& team);

/// A primitive beside what it is compared with: MPI_Barrier for the barrier, what it may take for
/// the decision, a hand-written copy with the same coherence state for put and get, the line
/// transfer for put_signal.
struct PrimitiveResult {
  Estimate time;
  Estimate other;
  Estimate vs_other;
  double line_ns = 0;
  std::size_t wrong = 0;
  std::string compared_with;
};
PrimitiveResult measure(Team& team, Primitive what, std::size_t bytes, int rounds);

}  // namespace tutti::bench
