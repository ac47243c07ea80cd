// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "collectives/schedule/doubling.hpp"
#include "collectives/schedule/partition.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail {

/// Bytes of `Problem::count` elements: one PE's block, or the vector.
constexpr std::size_t block_bytes(const Problem& problem) noexcept {
  return problem.count * element_bytes(problem);
}

/// Slice `i` of `count` elements that are shared out among all PEs; slices share no line, but for
/// elements of a program's own that do not divide it.
constexpr Part slice_of(const Problem& problem, std::size_t count, int i) noexcept {
  return part_of(static_cast<std::size_t>(i), static_cast<std::size_t>(problem.pes), count,
                 elements_of_granule(element_bytes(problem)));
}

/// What several algorithms ask of a problem, in the form of `Algorithm::supports` and
/// `scratch_bytes`: nullptr, or the reason why not.
namespace needs {

inline const char* nothing(const Problem&) { return nullptr; }

inline const char* two_pes(const Problem& problem) {
  return problem.pes < 2 ? "needs at least 2 PEs" : nullptr;
}
inline const char* power_of_two(const Problem& problem) {
  if (const char* reason = two_pes(problem)) return reason;
  return is_power_of_two(problem.pes) ? nullptr : "needs a power of two of PEs";
}

/// Of those that fold two at a time.
inline const char* pairs(const Problem& problem) {
  if (problem.op == Op::Avg) return "folds in pairs, and an average is divided once";
  return two_pes(problem);
}
inline const char* pairs_and_power_of_two(const Problem& problem) {
  if (const char* reason = pairs(problem)) return reason;
  return power_of_two(problem);
}

inline const char* shared_address_space(const Problem& problem) {
  return problem.shared_address_space ? nullptr : "needs PEs that are threads of one process";
}
/// Of those that touch peers' buffers where they are.
inline const char* open_buffers(const Problem& problem) {
  if (problem.shared_address_space) return nullptr;
  if (problem.memory != Memory::Symmetric) {
    return "needs symmetric tensors, or PEs that are threads of one process";
  }
  return problem.reachable ? nullptr : "needs peers that are reached by load and store";
}

/// Of those whose payload travels with the arrival word.
inline const char* vector_in_line(const Problem& problem) {
  return block_bytes(problem) > Execution::kLinePayload ? "takes at most 56 bytes" : nullptr;
}
inline const char* block_in_line(const Problem& problem) {
  return block_bytes(problem) > Execution::kLinePayload ? "takes blocks of at most 56 bytes"
                                                        : nullptr;
}
inline const char* all_blocks_in_line(const Problem& problem) {
  return bytes_of(problem) > Execution::kLinePayload ? "takes at most 56 bytes, all blocks together"
                                                     : nullptr;
}

inline std::size_t no_scratch(const Problem&, const Params&) { return 0; }

}  // namespace needs
}  // namespace tutti::detail
