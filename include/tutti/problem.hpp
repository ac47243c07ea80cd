// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/types.hpp"

namespace tutti {

enum class Collective : std::uint8_t {
  Allreduce,
  Allgather,
  ReduceScatter,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Alltoall,
  Allgatherv,
  ReduceScatterv,
  Alltoallv,
  Gatherv,
  Scatterv,
  RingShift,
};
inline constexpr std::size_t kCollectives = 14;

/// Whether something is folded, so that operation and contract mean something.
constexpr bool reduces(Collective collective) noexcept {
  return collective == Collective::Allreduce || collective == Collective::ReduceScatter ||
         collective == Collective::Reduce || collective == Collective::ReduceScatterv;
}
/// Whether `Problem::count` is one PE's block and the larger buffer holds a block for each PE;
/// otherwise it is the whole vector.
constexpr bool has_blocks(Collective collective) noexcept {
  return collective == Collective::Allgather || collective == Collective::ReduceScatter ||
         collective == Collective::Gather || collective == Collective::Scatter ||
         collective == Collective::Alltoall;
}

/// Where the caller's buffers live: anywhere, or in symmetric tensors.
enum class Memory : std::uint8_t { Private, Symmetric };

/// The promise about the bits of a reduction.
enum class Contract : std::uint8_t {
  Consistent,  ///< the same bits on every PE; the same call on the same layout, the same bits
  Ordered,     ///< the left fold in PE order, 16-bit types in f32, rounded once
};

TUTTI_API std::string_view name_of(Collective collective) noexcept;  ///< "allreduce", ...
TUTTI_API std::string_view name_of(Memory memory) noexcept;          ///< "private", "symmetric"
TUTTI_API std::string_view name_of(Contract contract) noexcept;      ///< "consistent", "ordered"
/// The inverses; throw `Error` (InvalidArgument) with the list of valid names.
TUTTI_API Collective collective_from(std::string_view name);
TUTTI_API Memory memory_from(std::string_view name);
TUTTI_API Contract contract_from(std::string_view name);

/// Whether each PE's block has a length of its own.
constexpr bool has_counts(Collective collective) noexcept {
  return collective == Collective::Allgatherv || collective == Collective::ReduceScatterv ||
         collective == Collective::Alltoallv || collective == Collective::Gatherv ||
         collective == Collective::Scatterv;
}

/// The facts that decide which algorithm runs. All of them are equal on all PEs of a call, so that
/// every PE decides alike; whether a call is in place is not among them.
struct Problem {
  Collective collective = Collective::Allreduce;
  DType dtype = DType::F32;
  Op op = Op::Sum;  ///< ignored where nothing is reduced
  Memory memory = Memory::Private;
  Contract contract = Contract::Consistent;
  bool reachable = true;              ///< every PE reaches every other by load and store
  bool shared_address_space = false;  ///< ... and their private memory too: threads of one process
  int pes = 1;
  int nodes = 1;
  int line_ns = 0;  ///< measured line transfer between the PEs' caches; 0 = unknown
  /// Elements: one PE's block if `has_blocks`, else the vector: all blocks together where they have
  /// counts, but 0 for alltoallv, whose counts are not equal on all PEs.
  std::size_t count = 0;
  std::size_t element_bytes = 1;  ///< of `DType::User`: 1 to 65536
  bool commutative = true;        ///< `Op::User` alone may not be: then the order of PEs is kept

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Bytes of one element of a problem.
constexpr std::size_t element_bytes(const Problem& problem) noexcept {
  return problem.dtype == DType::User ? problem.element_bytes : size_of(problem.dtype);
}

/// Size in nccl-tests' sense, in bytes: the vector (allreduce, broadcast, reduce, ring_shift), or
/// the blocks of all PEs together: the output of allgather(v) and gather(v), the input of
/// reduce_scatter(v), scatter(v) and alltoall; 0 for alltoallv.
constexpr std::size_t bytes_of(const Problem& problem) noexcept {
  const std::size_t part = problem.count * element_bytes(problem);
  return has_blocks(problem.collective) ? part * static_cast<std::size_t>(problem.pes) : part;
}

}  // namespace tutti
