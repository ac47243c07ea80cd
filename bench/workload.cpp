// SPDX-License-Identifier: Apache-2.0
#include "bench/workload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "bench/data.hpp"
#include "bench/touch.hpp"

namespace tutti::bench {
namespace {

constexpr std::size_t kRotateBytes = std::size_t{3} << 20;
constexpr std::size_t kOwnBytes = std::size_t{16} << 20;
constexpr std::size_t kAlign = 4096;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

std::string_view name_of(Placement placement) {
  constexpr std::array<std::string_view, 3> kNames = {"private", "inplace", "symmetric"};
  return kNames[static_cast<std::size_t>(placement)];
}

Problem problem_of(const Cell& cell, const Team& team, int line_ns) {
  Problem problem;
  problem.collective = cell.collective;
  problem.dtype = cell.dtype;
  problem.op = cell.op;
  problem.memory = cell.placement == Placement::Symmetric ? Memory::Symmetric : Memory::Private;
  problem.contract = cell.contract;
  problem.shared_address_space = team.shared_address_space();
  problem.pes = team.size();
  problem.line_ns = line_ns;
  problem.count = whole_bytes(cell, team.size()) / size_of(cell.dtype);
  if (has_blocks(cell.collective)) problem.count /= static_cast<std::size_t>(team.size());
  if (cell.collective == Collective::Alltoallv) problem.count = 0;  // not equal on all PEs
  return problem;
}

bool can_be_in_place(Collective collective) { return collective != Collective::Alltoallv; }

Workload::Workload(Team& team, const Cell& cell)
    : team_(team),
      cell_(cell),
      shape_(shape_of(cell.collective)),
      elements_(whole_bytes(cell, team.size()) / size_of(cell.dtype)),
      blocks_(elements_, team.size(), has_counts(cell.collective)),
      lines_{lines_of(cell.dtype, Data::Exact), lines_of(cell.dtype, Data::Order)} {
  const int pes = team.size();
  in_elements_ = bench::in_elements(shape_, blocks_, team.pe(), elements_);
  out_elements_ = bench::out_elements(shape_, blocks_, team.pe(), elements_);
  // Symmetric tensors are equal on all PEs; the last one's blocks are the largest.
  const std::size_t most_in = bench::in_elements(shape_, blocks_, pes - 1, elements_);
  const std::size_t most_out = bench::out_elements(shape_, blocks_, pes - 1, elements_);
  in_stride_ = aligned(most_in * size_of(cell.dtype) + 64);
  out_stride_ = aligned(most_out * size_of(cell.dtype) + 64);
  if (shape_.only_root_has_in && team.pe() != kRoot) in_elements_ = 0;
  if (shape_.only_root_has_out && team.pe() != kRoot) out_elements_ = 0;
  if (has_counts(cell.collective)) {
    for (int pe = 0; pe < pes; ++pe) counts_.push_back(blocks_.size(pe));
    out_counts_.assign(static_cast<std::size_t>(pes), blocks_.size(team.pe()));
  }
  if (cell.cycle == Cycle::Rotate) {
    rotations_ = std::max<std::size_t>(2, kRotateBytes / (in_stride_ + out_stride_) + 1);
  }
  if (cell.cycle == Cycle::Decode) own_.resize(kOwnBytes);
  if (cell.placement == Placement::Symmetric) {
    for (std::size_t i = 0; i < rotations_; ++i) {
      symmetric_.push_back(make_tensor<std::uint8_t>(team, {in_stride_}));
      symmetric_.push_back(make_tensor<std::uint8_t>(team, {out_stride_}));
    }
  } else {
    private_.resize((in_stride_ + out_stride_) * rotations_ + kAlign);
  }
}

Workload::Buffers Workload::buffers(std::uint64_t call) const {
  const std::size_t i = call % rotations_;
  Buffers at{};
  at.index = i;
  if (!symmetric_.empty()) {
    auto* self = const_cast<Workload*>(this);
    at.in = reinterpret_cast<std::byte*>(self->symmetric_[2 * i].local().data());
    at.out = reinterpret_cast<std::byte*>(self->symmetric_[2 * i + 1].local().data());
    return at;
  }
  const auto base = reinterpret_cast<std::uintptr_t>(private_.data());
  auto* begin = const_cast<std::byte*>(private_.data()) + (kAlign - base % kAlign) % kAlign;
  at.in = begin + i * (in_stride_ + out_stride_);
  at.out = at.in + in_stride_;
  if (cell_.placement == Placement::InPlace || cell_.collective == Collective::Broadcast) {
    const std::size_t block = blocks_.begin(team_.pe()) * size_of(cell_.dtype);
    const bool rooted = shape_.only_root_has_in || shape_.only_root_has_out;
    if (shape_.in == shape_.out) {
      at.in = at.out;
    } else if (rooted && team_.pe() != kRoot) {
      // only the root has both buffers
    } else if (shape_.in == Holds::Block) {
      at.in = at.out + block;
    } else {
      at.out = at.in + block;
    }
  }
  return at;
}

bool Workload::reveals_order() const noexcept {
  const bool floating = cell_.dtype == DType::F32 || cell_.dtype == DType::F64 ||
                        cell_.dtype == DType::F16 || cell_.dtype == DType::BF16;
  return floating && reduces(cell_.collective) && cell_.op == Op::Sum;
}

void Workload::produce(const Buffers& at, std::uint64_t call, Data data) const {
  write_lines(at.in, lines(data), seed_of(team_.pe(), call), in_elements_ * size_of(cell_.dtype));
}

double Workload::consume(const Buffers& at) const {
  return static_cast<double>(read_all(at.out, out_elements_ * size_of(cell_.dtype)));
}

template <class T>
T Workload::expected(std::size_t index, std::uint64_t call, Data data) const {
  const int pes = team_.size();
  if (cell_.collective == Collective::RingShift) {
    return element_of<T>(lines(data), (team_.pe() + pes - 1) % pes, index, call);
  }
  if (!reduces(cell_.collective)) {
    const Source from = source_of(shape_, blocks_, team_.pe(), index);
    return element_of<T>(lines(data), from.pe, from.index, call);
  }
  const std::size_t at = shape_.out == Holds::Block ? blocks_.begin(team_.pe()) + index : index;
  return folded<T>(lines(data), cell_.op, pes, at, call);
}

std::size_t Workload::wrong(const Buffers& at, std::uint64_t call, std::size_t first,
                            std::size_t stride, Data data) const {
  return with_type(cell_.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    std::size_t wrong = 0;
    for (std::size_t i = first; i < out_elements_; i += stride) {
      // Bit for bit: -0 is not 0, and NaN is itself.
      const auto right =
          std::bit_cast<std::array<std::byte, sizeof(T)>>(expected<T>(i, call, data));
      wrong += std::memcmp(at.out + i * sizeof(T), right.data(), sizeof(T)) != 0 ? 1 : 0;
    }
    return wrong;
  });
}

void Workload::between(std::uint64_t call) const {
  if (cell_.cycle == Cycle::Decode) {
    std::ranges::fill(own_, static_cast<std::byte>(call));
  } else if (cell_.cycle == Cycle::Skew && static_cast<std::uint64_t>(team_.pe()) ==
                                               call % static_cast<std::uint64_t>(team_.size())) {
    volatile std::uint64_t spin = 0;
    for (int i = 0; i < 20000; ++i) spin = spin + 1;
  }
}

void Workload::run(const Buffers& at, const Call& call) const {
  detail::Buffers buffers{at.in, at.out, in_elements_, out_elements_, cell_.dtype};
  if (!symmetric_.empty()) {
    buffers.in_block = &symmetric_[2 * at.index].block();
    buffers.out_block = &symmetric_[2 * at.index + 1].block();
  }
  buffers.counts = counts_;
  buffers.out_counts = out_counts_;
  switch (cell_.collective) {
    case Collective::Allreduce:
      return detail::allreduce(team_, buffers, cell_.op, call);
    case Collective::Allgather:
      return detail::allgather(team_, buffers, call);
    case Collective::ReduceScatter:
      return detail::reduce_scatter(team_, buffers, cell_.op, call);
    case Collective::Broadcast:
      buffers.in = buffers.out;
      buffers.in_block = buffers.out_block;
      return detail::broadcast(team_, buffers, kRoot, call);
    case Collective::Reduce:
      return detail::reduce(team_, buffers, cell_.op, kRoot, call);
    case Collective::Gather:
      return detail::gather(team_, buffers, kRoot, call);
    case Collective::Scatter:
      return detail::scatter(team_, buffers, kRoot, call);
    case Collective::Alltoall:
      return detail::alltoall(team_, buffers, call);
    case Collective::RingShift:
      return detail::ring_shift(team_, buffers, 1, call);
    case Collective::Allgatherv:
      return detail::allgatherv(team_, buffers, call);
    case Collective::ReduceScatterv:
      return detail::reduce_scatterv(team_, buffers, cell_.op, call);
    case Collective::Alltoallv:
      return detail::alltoallv(team_, buffers, call);
    case Collective::Gatherv:
      return detail::gatherv(team_, buffers, kRoot, call);
    case Collective::Scatterv:
      return detail::scatterv(team_, buffers, kRoot, call);
  }
}

}  // namespace tutti::bench
