// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/grid.hpp"

#include <algorithm>

namespace tutti::bench {
namespace {

constexpr std::size_t kStep = 4;

std::vector<Cell> kinds_of(const SweepPlan& plan) {
  std::vector<Cell> kinds;
  for (const Placement placement : plan.placements) {
    for (const Collective collective : plan.collectives) {
      for (const DType type : plan.types) {
        for (const Contract contract : plan.contracts) {
          if (!reduces(collective) && contract != plan.contracts.front())
            continue;  // it makes no difference
          Cell cell;
          cell.collective = collective;
          cell.dtype = type;
          cell.placement = placement;
          cell.contract = contract;
          cell.cycle = plan.cycles.front();
          kinds.push_back(cell);
        }
      }
    }
  }
  return kinds;
}

/// 0 for every fourth size and the last, 1 for those halfway between, 2 for the others.
int level_of(std::size_t index, std::size_t sizes) {
  if (index % 4 == 0 || index + 1 == sizes) return 0;
  return index % 2 == 0 ? 1 : 2;
}

/// Steps that a collective comes later.
int delay_of(Collective collective) {
  const bool is_usual = collective == Collective::Allreduce ||
                        collective == Collective::Allgather ||
                        collective == Collective::ReduceScatter;
  return is_usual ? 0 : 1;
}

}  // namespace

std::vector<std::size_t> grid_sizes(std::size_t smallest, std::size_t largest) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = smallest; bytes < largest; bytes *= kStep) sizes.push_back(bytes);
  sizes.push_back(largest);
  return sizes;
}

std::vector<Cell> grid_cells(const SweepPlan& plan, int pes) {
  const std::vector<std::size_t> sizes = grid_sizes(plan.smallest, plan.largest);
  std::vector<Cell> cells;
  for (int step = 0; step <= 3; ++step) {
    for (Cell cell : kinds_of(plan)) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (level_of(i, sizes.size()) + delay_of(cell.collective) != step) continue;
        cell.bytes = sizes[i];
        cell.bytes = whole_bytes(cell, pes);
        if (std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
      }
    }
  }
  return cells;
}

double share_of(Cycle cycle) {
  return cycle == Cycle::Decode ? 3 : 1;  // its steps are long
}

double shares_of(const std::vector<Cycle>& cycles) {
  double all = 0;
  for (const Cycle cycle : cycles) all += share_of(cycle);
  return all;
}

double least_seconds(const std::vector<Cycle>& cycles) {
  constexpr double kOfOneShare = 0.12;  // 16 rounds of a block of each finalist
  return kOfOneShare * shares_of(cycles);
}

Cell cell_like(const MeasuredPoint& point, std::size_t bytes) {
  Cell cell;
  cell.collective = point.collective;
  cell.dtype = point.dtype;
  cell.op = point.op;
  cell.contract = point.contract;
  cell.placement = placement_in(point.memory);
  cell.bytes = bytes;
  return cell;
}

}  // namespace tutti::bench
