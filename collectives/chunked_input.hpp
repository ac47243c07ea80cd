// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail {

/// Every PE's whole input goes through its ring in chunks, for all peers to read, or for one: what
/// one-shot allreduce, direct allgather and direct ring shift have in common. Chunk k is published
/// by step k + 1 and read `lag` steps later; `consumed` k + 1 says that it was read, and is raised
/// only if the input is longer than the ring (between calls arrivals say it).
class ChunkedInput {
 public:
  enum : std::size_t { kRingBytes, kChunkBytes, kLag, kStore, kSlots, kResults };
  static constexpr std::array<Parameter, 6> kParameters = {
      ring_parameter(1 << 20), chunk_parameter(1 << 18), lag_parameter(1),
      store_parameter(),       slots_parameter(),        results_parameter()};

  static std::size_t scratch_bytes(const Problem& problem, const Params& params) {
    return std::max(
        ring_of(params[kRingBytes], problem.count * element_bytes(problem), params[kSlots]),
        Pipeline::least_ring(element_bytes(problem), static_cast<std::size_t>(params[kLag])));
  }
  static Pipeline pipeline(const Problem& problem, const Params& params) {
    return Pipeline::plan(problem.count, element_bytes(problem),
                          static_cast<std::size_t>(params[kChunkBytes]),
                          static_cast<std::size_t>(params[kLag]), scratch_bytes(problem, params));
  }
  /// What staging and reading cost; the algorithm adds its folds.
  static Traffic traffic(const Problem& problem, const Params& params) {
    const Pipeline plan = pipeline(problem, params);
    const std::uint64_t bytes = problem.count * element_bytes(problem);
    return {plan.chunks * (plan.wraps ? 2 : 1), bytes,
            (static_cast<std::uint64_t>(problem.pes) - 1) * bytes, 0};
  }

  ChunkedInput(Execution& x, const Params& params, int reader = Execution::kAllReaders)
      : x_(x),
        reader_(reader),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        store_(store_of(params[kStore])) {}

  /// Calls read(k) for each chunk, `lag` chunks behind the staging. `read` awaits step k + 1 of
  /// whomever it reads from.
  template <class Read>
  void pass(Read&& read) {
    for (std::size_t step = 0; step < plan_.chunks + plan_.lag; ++step) {
      if (step < plan_.chunks) stage(step);
      if (step < plan_.lag) continue;
      expect(step - plan_.lag);
      read(step - plan_.lag);
      if (plan_.wraps) x_.consumed(step - plan_.lag + 1);
    }
  }

  /// Elements of chunk k, bytes of it, and its first byte in a vector.
  std::size_t size(std::size_t k) const { return plan_.part(k).size; }
  std::size_t bytes(std::size_t k) const { return size(k) * element_; }
  std::size_t offset(std::size_t k) const { return plan_.part(k).begin * element_; }
  /// PE `pe`'s chunk k: my input, or its staging.
  const std::byte* of(int pe, std::size_t k) {
    return pe == x_.pe() ? x_.in() + offset(k)
                         : x_.read(pe, staged_[k % staged_.size()], 0, bytes(k));
  }

 private:
  void stage(std::size_t k) {
    Staged& range = staged_[k % staged_.size()];
    range = x_.reserve(bytes(k), k + 1);
    x_.stage(range, 0, x_.in() + offset(k), bytes(k), store_, reader_);
    x_.publish(k + 1);
  }
  void expect(std::size_t k) {
    if (reader_ != Execution::kAllReaders) return;  // nor do I read all
    for (int pe = 0; pe < x_.pes(); ++pe) {
      if (pe != x_.pe()) x_.expect(pe, staged_[k % staged_.size()], 0, bytes(k));
    }
  }

  Execution& x_;
  const int reader_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  std::array<Staged, 8> staged_;  // the chunks in flight: more than the largest lag
};

}  // namespace tutti::detail
