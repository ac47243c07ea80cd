// SPDX-License-Identifier: Apache-2.0
//
// Idea: slices travel around the ring of PEs, each PE adding its own input; then the folded slices
//       travel once more. Every PE only ever reads from the PE before it.
// Phases: 1. offer   my input of the slice that the next PE folds first
//         2. fold    p-1 steps: the previous PE's partial slice and my input, into my staging
//         3. gather  p-1 steps: the previous PE's finished slice into out and my staging
// Cost a PE: 2p - 1 steps a block; 2 n bytes stored, 2 (p-1)/p n loaded, (p-1) folds of n/p x 2.
// Needs: p >= 2, any count; a ring of `ring_bytes`.
// Order: slice d is folded in the order d+1, d+2, ..., d: not the left fold, but computed once.
// Signals: step s of the call publishes what phase s wrote to my staging; `consumed` s says that I
//          have read the previous PE's step s.
// Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters" (2009).
#include <algorithm>
#include <array>

#include "collectives/allreduce/registry.hpp"
#include "collectives/parameters.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "collectives/schedule/ring_steps.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

enum : std::size_t { kRingBytes, kChunkBytes };
constexpr std::array<Parameter, 2> kParameters = {ring_parameter(4 << 20),
                                                  chunk_parameter(1 << 20)};
std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return std::max(ring_of(params[kRingBytes]),
                  Pipeline::least_ring(element_bytes(problem), 0, 2,
                                       2 * static_cast<std::size_t>(problem.pes)));
}

// A block is staged twice, a slice at a time: partial sums, then results.
Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(
      problem.count, element_bytes(problem), static_cast<std::size_t>(params[kChunkBytes]), 0,
      scratch_bytes(problem, params), 2, 2 * static_cast<std::size_t>(problem.pes));
}

class RingCall {
 public:
  RingCall(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        before_(ring_before(x.pe(), x.pes())) {}

  std::size_t blocks() const { return plan_.chunks; }

  void start(std::size_t b) { block_ = plan_.part(b); }

  void offer() {
    const Part slice = slice_at(ring_first_slice(x_.pe(), x_.pes()));
    reserve();
    x_.stage(staged_, 0, x_.in() + offset(slice), slice.size * element_);
    x_.publish(step_);
  }

  void fold(int i) {
    const Part slice = slice_at(ring_fold_slice(x_.pe(), i, x_.pes()));
    const std::size_t bytes = slice.size * element_;
    const Staged theirs = staged_;
    x_.await(before_, step_);
    const std::uint64_t read_step = step_;
    reserve();
    const std::array<const std::byte*, 2> sources = {x_.read(before_, theirs, 0, bytes),
                                                     x_.in() + offset(slice)};
    const bool last = i == x_.pes() - 2;
    std::array<std::byte*, 2> outs = {x_.write(staged_, 0, bytes), x_.out() + offset(slice)};
    x_.fold(std::span(outs.data(), last ? 2 : 1), sources, slice.size);
    x_.written(staged_, 0, bytes);
    finish(read_step);
  }

  void gather(int i) {
    const Part slice = slice_at(ring_gather_block(x_.pe(), i, x_.pes()));
    const std::size_t bytes = slice.size * element_;
    const Staged theirs = staged_;
    x_.await(before_, step_);
    const std::uint64_t read_step = step_;
    reserve();
    const std::byte* from = x_.read(before_, theirs, 0, bytes);
    x_.copy(x_.out() + offset(slice), from, bytes);
    if (i < x_.pes() - 2) x_.stage(staged_, 0, from, bytes);
    finish(read_step);
  }

 private:
  Part slice_at(int slice) const { return slice_of(x_.problem(), block_.size, slice); }
  std::size_t offset(const Part& slice) const { return (block_.begin + slice.begin) * element_; }

  void reserve() {
    staged_ = x_.reserve(slice_of(x_.problem(), block_.size, 0).size * element_, ++step_);
  }
  void finish(std::uint64_t read_step) {
    x_.publish(step_);
    if (plan_.wraps) x_.consumed(read_step);
  }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const int before_;
  Part block_;
  Staged staged_;  // what the step before published, on every PE
  std::uint64_t step_ = 0;
};

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const std::uint64_t element = element_bytes(problem);
  const int pes = problem.pes;
  const auto steps = static_cast<std::uint64_t>(2 * pes - 1);
  Traffic sum{plan.chunks * (steps + (plan.wraps ? steps - 1 : 0)), 0, 0, 0};
  for (std::size_t b = 0; b < plan.chunks; ++b) {
    const Part block = plan.part(b);
    const auto bytes = [&](int slice) {
      return slice_of(problem, block.size, slice).size * element;
    };
    sum.bytes_stored += bytes(ring_first_slice(pe, pes));
    for (int i = 0; i < pes - 1; ++i) {
      const std::uint64_t folded = bytes(ring_fold_slice(pe, i, pes));
      const std::uint64_t gathered = bytes(ring_gather_block(pe, i, pes));
      sum.bytes_stored += folded + (i < pes - 2 ? gathered : 0);
      sum.bytes_loaded += folded + gathered;
      sum.bytes_folded += 2 * folded;
    }
  }
  return sum;
}

void run(Execution& x, const Params& params) {
  RingCall call(x, params);
  for (std::size_t b = 0; b < call.blocks(); ++b) {
    call.start(b);
    call.offer();
    for (int i = 0; i < x.pes() - 1; ++i) call.fold(i);
    for (int i = 0; i < x.pes() - 1; ++i) call.gather(i);
  }
}

}  // namespace

constinit const Algorithm kRing = {
    .collective = Collective::Allreduce,
    .name = "ring",
    .summary = "slices travel around the ring of PEs twice",
    .source = "Patarasuk, Yuan 2009",
    .keeps_ordered = false,
    .parameters = kParameters,
    .supports = needs::pairs,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allreduce
