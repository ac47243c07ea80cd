// SPDX-License-Identifier: Apache-2.0
//
// Idea: each PE owns a slice of every block, folds it once and hands the result to the others:
//       reduce-scatter, then allgather, through one ring. My own slice is never staged.
// Phases: 1. stage  the slices of block b that others own; published by step b + 1
//         2. fold   `lag` blocks later: my slice, all sources in PE order, into out and staging
//         3. gather `lag` blocks later: the others' folded slices into out
// Cost a PE: blocks + 2 lag steps; n bytes stored, 2 (p-1)/p n loaded, one fold of n/p x p.
// Needs: any p, any count; a ring of `ring_bytes`; lag >= 1.
// Order: the left fold in PE order, computed once by the owner.
// Signals: step s publishes my staging of block s - 1 and my folded slice of block s - 1 - lag.
//          `consumed` s says that I have folded and gathered all that steps up to s published.
// Source: Rabenseifner, "Optimization of Collective Reduction Operations" (2004).
#include <algorithm>
#include <array>

#include "collectives/allreduce/registry.hpp"
#include "collectives/parameters.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

enum : std::size_t { kRingBytes, kChunkBytes, kLag, kStore, kResults };
constexpr std::array<Parameter, 5> kParameters = {
    ring_parameter(1 << 20), chunk_parameter(1 << 19),
    Parameter{"lag", 1, 3, 1, "blocks between staging and folding, folding and gathering"},
    store_parameter(), results_parameter()};
std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return std::max(
      ring_of(params[kRingBytes]),
      Pipeline::least_ring(element_bytes(problem), static_cast<std::size_t>(params[kLag]), 2,
                           static_cast<std::size_t>(problem.pes) + 1));
}

// A block stages at most itself and one folded slice: twice its bytes.
Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(problem.count, element_bytes(problem),
                        static_cast<std::size_t>(params[kChunkBytes]),
                        static_cast<std::size_t>(params[kLag]), scratch_bytes(problem, params), 2,
                        static_cast<std::size_t>(problem.pes) + 1);
}

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t element = element_bytes(problem);
  const std::uint64_t steps = plan.chunks + 2 * plan.lag;
  Traffic sum{plan.chunks + plan.lag + (plan.wraps ? steps : 0), 0, 0, 0};
  for (std::size_t b = 0; b < plan.chunks; ++b) {
    const Part block = plan.part(b);
    const std::uint64_t mine = slice_of(problem, block.size, pe).size * element;
    sum.bytes_stored += block.size * element;
    sum.bytes_loaded += (pes - 1) * mine + block.size * element - mine;
    sum.bytes_folded += pes * mine;
  }
  return sum;
}

class TwoShot {
 public:
  TwoShot(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        store_(store_of(params[kStore])),
        results_store_(results_of(x, params[kResults])) {}

  std::size_t steps() const { return plan_.chunks + 2 * plan_.lag; }

  void stage(std::size_t step) {
    if (step >= plan_.chunks) return;
    const Part block = plan_.part(step);
    Staged& range = contributions_[step % kInFlight];
    range = x_.reserve(block.size * element_, step + 1);
    for (int owner = 0; owner < x_.pes(); ++owner) {
      if (owner == x_.pe()) continue;
      const Part slice = slice_of(x_.problem(), block.size, owner);
      x_.stage(range, slice.begin * element_, x_.in() + (block.begin + slice.begin) * element_,
               slice.size * element_, store_, owner);
    }
  }

  void fold(std::size_t step) {
    if (step < plan_.lag || step - plan_.lag >= plan_.chunks) return;
    const std::size_t b = step - plan_.lag;
    const Part block = plan_.part(b);
    const Part mine = slice_of(x_.problem(), block.size, x_.pe());
    const std::size_t bytes = mine.size * element_;
    const std::size_t offset = (block.begin + mine.begin) * element_;
    Staged& range = results_[b % kInFlight];
    // The longest slice, so that every PE reserves the same.
    range = x_.reserve(slice_of(x_.problem(), block.size, 0).size * element_, step + 1);
    x_.await_all(b + 1);
    const auto sources = x_.sources();
    for (int pe = 0; pe < x_.pes(); ++pe) {
      sources[static_cast<std::size_t>(pe)] =
          pe == x_.pe() ? x_.in() + offset
                        : x_.read(pe, contributions_[b % kInFlight], mine.begin * element_, bytes);
    }
    const std::array<std::byte*, 2> outs = {x_.write(range, 0, bytes), x_.out() + offset};
    if (store_ == results_store_) {
      x_.fold(outs, sources, mine.size, store_);
    } else {  // folded into the one that is cached, and copied while it is
      const std::size_t cached = store_ == StoreKind::Cached ? 0 : 1;
      x_.fold(outs[cached], sources, mine.size);
      x_.copy(outs[1 - cached], outs[cached], bytes, StoreKind::Stream);
    }
    x_.written(range, 0, bytes);
  }

  void publish(std::size_t step) {
    if (step < plan_.chunks + plan_.lag) x_.publish(step + 1);
  }

  void gather(std::size_t step) {
    if (step >= 2 * plan_.lag) {
      const std::size_t b = step - 2 * plan_.lag;
      const Part block = plan_.part(b);
      x_.await_all(b + plan_.lag + 1);
      for (int owner = 0; owner < x_.pes(); ++owner) {
        if (owner == x_.pe()) continue;
        const Part slice = slice_of(x_.problem(), block.size, owner);
        const std::size_t bytes = slice.size * element_;
        x_.copy(x_.out() + (block.begin + slice.begin) * element_,
                x_.read(owner, results_[b % kInFlight], 0, bytes), bytes, results_store_);
      }
    }
    if (plan_.wraps) x_.consumed(step + 1 >= plan_.lag ? step + 1 - plan_.lag : 0);
  }

 private:
  static constexpr std::size_t kInFlight = 8;  // more than twice the largest lag

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  const StoreKind results_store_;
  std::array<Staged, kInFlight> contributions_;
  std::array<Staged, kInFlight> results_;
};

void run(Execution& x, const Params& params) {
  TwoShot call(x, params);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    call.stage(step);
    call.fold(step);
    call.publish(step);
    call.gather(step);
  }
}

}  // namespace

constinit const Algorithm kTwoShot = {
    .collective = Collective::Allreduce,
    .name = "two_shot",
    .summary = "owners fold slices, everyone gathers the results",
    .source = "Rabenseifner 2004",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = needs::nothing,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
    .revision = 2,
};

}  // namespace tutti::detail::allreduce
