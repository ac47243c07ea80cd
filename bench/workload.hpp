// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/data.hpp"
#include "bench/shape.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bench {

/// Where a collective's buffers lie.
enum class Placement : std::uint8_t { Private, InPlace, Symmetric };
std::string_view name_of(Placement placement);
/// Out of place, in that kind of memory.
constexpr Placement placement_in(Memory memory) noexcept {
  return memory == Memory::Symmetric ? Placement::Symmetric : Placement::Private;
}

/// A cell of the benchmark: equal on all PEs.
struct Cell {
  Collective collective = Collective::Allreduce;
  DType dtype = DType::F32;
  Op op = Op::Sum;
  Placement placement = Placement::Private;
  Cycle cycle = Cycle::Same;
  Contract contract = Contract::Consistent;
  /// nccl-tests' size, as `whole_bytes` rounds it; of alltoallv what a PE sends.
  std::size_t bytes = 0;

  friend bool operator==(const Cell&, const Cell&) = default;
};

/// The size that a cell is really measured at: whole elements (and blocks), and one at least.
inline std::size_t whole_bytes(const Cell& cell, int pes) {
  const std::size_t size = size_of(cell.dtype);
  return whole_elements(cell.collective, cell.bytes / size, pes) * size;
}

/// The facts of a cell for the tuner.
Problem problem_of(const Cell& cell, const Team& team, int line_ns);

/// Whether a collective has a form in place.
bool can_be_in_place(Collective collective);

/// A cell's buffers on one PE, and what surrounds each call: produce (the PE writes its whole
/// input), the collective, consume (the PE reads its whole output).
class Workload {
 public:
  Workload(Team& team, const Cell& cell);

  const Cell& cell() const noexcept { return cell_; }
  int pe() const noexcept { return team_.pe(); }
  const Shape& shape() const noexcept { return shape_; }
  const Blocks& blocks() const noexcept { return blocks_; }
  /// Elements of the vector, or of all blocks together.
  std::size_t elements() const noexcept { return elements_; }
  /// What this PE gives and gets; 0 where only the root has a buffer.
  std::size_t in_elements() const noexcept { return in_elements_; }
  std::size_t out_elements() const noexcept { return out_elements_; }

  struct Buffers {
    std::byte* in;
    std::byte* out;
    std::size_t index;  ///< of the rotation
  };
  /// The buffers of call `call`.
  Buffers buffers(std::uint64_t call) const;

  /// Writes the whole input of a call: data are a function of PE, index and call.
  void produce(const Buffers& at, std::uint64_t call, Data data = Data::Exact) const;
  /// Reads the whole output; the result must be used.
  double consume(const Buffers& at) const;
  /// Elements of the output of call `call` that are wrong: all are checked, or every `stride`-th
  /// from `first`. The reference is the left fold in PE order; of `Data::Order` only what keeps
  /// `Contract::Ordered` is right.
  std::size_t wrong(const Buffers& at, std::uint64_t call, std::size_t first = 0,
                    std::size_t stride = 1, Data data = Data::Exact) const;
  /// Whether `Data::Order` mean something here: sums of floating-point numbers.
  bool reveals_order() const noexcept;
  /// What the cycle wants between calls.
  void between(std::uint64_t call) const;

  /// Runs Tutti's collective on these buffers.
  void run(const Buffers& at, const Call& call) const;

 private:
  template <class T>
  T expected(std::size_t index, std::uint64_t call, Data data) const;
  const Lines& lines(Data data) const { return lines_[static_cast<std::size_t>(data)]; }

  Team& team_;
  Cell cell_;
  Shape shape_;
  std::size_t elements_ = 0;
  Blocks blocks_;
  std::array<Lines, kDatas> lines_;
  std::size_t in_elements_ = 0;
  std::size_t out_elements_ = 0;
  std::vector<std::size_t> counts_;      ///< empty where all blocks are equal
  std::vector<std::size_t> out_counts_;  ///< of alltoallv
  std::size_t rotations_ = 1;
  mutable std::vector<std::byte> own_;  ///< streamed between calls by `Cycle::Decode`
  std::vector<std::byte> private_;
  std::vector<ShmemTensor<std::uint8_t>> symmetric_;  ///< in and out of each rotation
  std::size_t in_stride_ = 0;
  std::size_t out_stride_ = 0;
};

}  // namespace tutti::bench
