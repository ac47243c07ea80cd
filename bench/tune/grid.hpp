// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "bench/workload.hpp"
#include "tutti/measured.hpp"

namespace tutti::bench {

/// What a sweep covers. Equal on all PEs.
struct SweepPlan {
  std::vector<Collective> collectives;
  std::vector<DType> types;
  std::vector<Placement> placements;
  std::vector<Contract> contracts;
  std::vector<Cycle> cycles;
  std::size_t smallest = 8;
  std::size_t largest = std::size_t{4} << 20;
  double budget_seconds = 60;
};

/// The sizes from smallest to largest, four times apart, and the largest.
std::vector<std::size_t> grid_sizes(std::size_t smallest, std::size_t largest);

/// The cells of the plan on teams of `pes` (their cycle is the first), with the sizes that they are
/// really measured at, none twice. Best use first: every kind of problem at a few sizes before any
/// of them at more, so that a small budget says something about all of them; the collectives that
/// programs spend their time in a step ahead of the others.
std::vector<Cell> grid_cells(const SweepPlan& plan, int pes);

/// The problem of a measured point, at another size.
Cell cell_like(const MeasuredPoint& point, std::size_t bytes);

/// A cycle's share of a point's time, beside those of the others.
double share_of(Cycle cycle);
double shares_of(const std::vector<Cycle>& cycles);
/// Seconds in which a point has enough rounds in each of these cycles.
double least_seconds(const std::vector<Cycle>& cycles);

}  // namespace tutti::bench
