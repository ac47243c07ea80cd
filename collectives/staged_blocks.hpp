// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail {

/// Everyone stages, piece by piece, the blocks that are meant for others, each for its one reader:
/// what direct reduce_scatter, alltoall and scatter have in common. My own block is never staged.
/// Step k + 1 publishes piece k of all blocks; `consumed` k + 1 says that I have read mine, and is
/// raised only if the blocks do not all fit in the ring (between calls arrivals say it).
class StagedBlocks {
 public:
  enum : std::size_t { kRingBytes, kChunkBytes, kLag, kStore, kSlots, kResults };
  static constexpr std::array<Parameter, 6> kParameters = {
      ring_parameter(1 << 20), chunk_parameter(1 << 18), lag_parameter(1),
      store_parameter(),       slots_parameter(),        results_parameter()};
  /// Where blocks have counts the ring is as large as it may be.
  static constexpr std::span<const Parameter> kCountsParameters =
      std::span(kParameters).first<kSlots>();

  /// Each PE but me gets at least a line a step, so many PEs need a larger ring.
  static std::size_t ring_for(const Problem& problem, std::int64_t ring_bytes, std::size_t lag,
                              std::int64_t slots) {
    const auto others = static_cast<std::size_t>(std::max(problem.pes - 1, 1));
    const std::size_t least =
        std::max((lag + 2) * static_cast<std::size_t>(problem.pes) * 256,
                 Pipeline::least_ring(element_bytes(problem), lag, others, others));
    if (has_counts(problem.collective)) return std::bit_ceil(std::max(ring_of(ring_bytes), least));
    const std::size_t bytes = problem.count * element_bytes(problem) * others;
    return std::bit_ceil(std::max(ring_of(ring_bytes, bytes, slots, others), least));
  }
  /// `chunk_bytes` counts what a PE stages in a step: one piece for each other PE.
  static Pipeline plan_for(const Problem& problem, std::int64_t chunk_bytes, std::size_t lag,
                           std::size_t ring_bytes) {
    const auto others = static_cast<std::size_t>(std::max(problem.pes - 1, 1));
    return Pipeline::plan(problem.count, element_bytes(problem),
                          static_cast<std::size_t>(chunk_bytes) / others, lag, ring_bytes, others,
                          others);
  }

  static std::size_t scratch_bytes(const Problem& problem, const Params& params) {
    return ring_for(problem, params[kRingBytes], static_cast<std::size_t>(params[kLag]),
                    params[kSlots]);
  }
  static Pipeline pipeline(const Problem& problem, const Params& params) {
    return plan_for(problem, params[kChunkBytes], static_cast<std::size_t>(params[kLag]),
                    scratch_bytes(problem, params));
  }
  /// What staging and reading cost; the algorithm adds its folds.
  static Traffic traffic(const Problem& problem, const Params& params, int) {
    const Pipeline plan = pipeline(problem, params);
    const std::uint64_t others = static_cast<std::uint64_t>(problem.pes) - 1;
    const std::uint64_t block = problem.count * element_bytes(problem);
    return {plan.chunks * (plan.wraps ? 2 : 1), others * block, others * block, 0};
  }

  StagedBlocks(Execution& x, const Params& params)
      : StagedBlocks(x, pipeline(x.problem(), params), store_of(params[kStore])) {}
  StagedBlocks(Execution& x, const Pipeline& plan, StoreKind store)
      : x_(x), plan_(plan), element_(element_bytes(x.problem())), store_(store) {}

  /// Calls read(k) for each piece, `lag` pieces behind the staging. `read` awaits step k + 1 of
  /// whomever it reads from.
  template <class Read>
  void pass(Read&& read) {
    for (std::size_t step = 0; step < plan_.chunks + plan_.lag; ++step) {
      if (step < plan_.chunks) {
        reserve(step);
        stage(step);
      }
      if (step < plan_.lag) continue;
      expect(step - plan_.lag);
      read(step - plan_.lag);
      consumed(step - plan_.lag);
    }
  }

  std::size_t pieces() const { return plan_.chunks; }
  bool wraps() const { return plan_.wraps; }

  /// The steps of `pass`, for who takes other roads: everyone reserves every piece.
  void reserve(std::size_t k) {
    staged_[k % staged_.size()] =
        x_.reserve(stride(k) * static_cast<std::size_t>(x_.pes() - 1), k + 1);
  }
  void stage(std::size_t k) {
    for (int owner = 0; owner < x_.pes(); ++owner) {
      if (owner == x_.pe()) continue;
      x_.stage(staged_[k % staged_.size()], place(x_.pe(), owner) * stride(k),
               x_.in() + offset(owner, k), bytes(k), store_, owner);
    }
    x_.publish(k + 1);
  }
  void consumed(std::size_t k) {
    if (plan_.wraps) x_.consumed(k + 1);
  }

  /// Elements of piece k, bytes of it, and where it begins in a buffer with one block or with all.
  std::size_t size(std::size_t k) const { return plan_.part(k).size; }
  std::size_t bytes(std::size_t k) const { return size(k) * element_; }
  std::size_t offset(std::size_t k) const { return plan_.part(k).begin * element_; }
  std::size_t offset(int block, std::size_t k) const {
    return static_cast<std::size_t>(block) * plan_.count * element_ + offset(k);
  }
  /// Piece k of what PE `pe` has for me: in my input, or in its staging.
  const std::byte* from(int pe, std::size_t k) {
    return pe == x_.pe()
               ? x_.in() + offset(pe, k)
               : x_.read(pe, staged_[k % staged_.size()], place(pe, x_.pe()) * stride(k), bytes(k));
  }

 private:
  void expect(std::size_t k) {
    for (int pe = 0; pe < x_.pes(); ++pe) {
      if (pe == x_.pe()) continue;
      x_.expect(pe, staged_[k % staged_.size()], place(pe, x_.pe()) * stride(k), bytes(k));
    }
  }
  /// Where `from` stages what `owner` reads: the others in order.
  static std::size_t place(int from, int owner) {
    return static_cast<std::size_t>(owner < from ? owner : owner - 1);
  }
  std::size_t stride(std::size_t k) const { return whole_granules(bytes(k)); }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  std::array<Staged, 8> staged_;  // the pieces in flight: more than the largest lag
};

}  // namespace tutti::detail
