// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tutti/collectives.hpp"

namespace tutti::tests {

/// One cell of the grid that the registries span.
struct Cell {
  const Algorithm* algorithm;
  std::size_t count;
  DType dtype = DType::F32;
  Op op = Op::Sum;
  Memory memory = Memory::Private;
  bool in_place = false;
  Contract contract = Contract::Consistent;
  std::string parameters = {};  ///< ":chunk_bytes=1K,lag=2"
  std::size_t misalign = 0;     ///< elements that the buffers are shifted by
};
std::string to_string(const Cell& cell);

/// The cells of one algorithm: a pairwise sample, or all of them if TUTTI_TEST_FULL is set. Without
/// load and store every message is an allocation: there the sample has no long vectors.
std::vector<Cell> cells_of(const Algorithm& algorithm, int pes, bool reachable);

/// Collective: runs the cell's call three times back to back, and once with the choice left open,
/// on data that depends on PE, index and call, one PE late. Compares every element, the guard bytes
/// around the output, the input, the traffic, and the record of the call with what it insists on or
/// `explain` says; of `seen_algorithms`, also with the body that ran. `call` numbers the calls of
/// the whole test. Returns false for a cell that the algorithm does not support. `reachable`:
/// whether PEs reach each other by load and store.
bool check_cell(Team& team, const Cell& cell, bool reachable, std::size_t& call);

/// `check_cell` on all cells of an algorithm; the result counts those that ran.
std::size_t check_algorithm(Team& team, const Algorithm& algorithm, bool reachable = true);

}  // namespace tutti::tests
