// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages the blocks that others own; the owner folds all of them in one pass. My
//       own block is never staged.
// Phases: 1. stage  piece k of every other PE's block; published by step k + 1
//         2. fold   `lag` pieces later: my piece, all sources in PE order, into out
// Cost a PE: ceil(n / piece) steps; (p-1) n bytes stored, (p-1) n loaded, one fold of n x p.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: the left fold in PE order.
// Signals: step k + 1 publishes piece k of all blocks; `consumed` k + 1 says that I have folded
//          piece k of mine, raised only if the blocks do not fit in the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 5 (pairwise exchange, all at once).
#include <algorithm>
#include <array>
#include <bit>

#include "collectives/parameters.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatter {
namespace {

enum : std::size_t { kRingBytes, kChunkBytes, kLag, kStore };
constexpr std::array<Parameter, 4> kParameters = {ring_parameter(2 << 20), chunk_parameter(1 << 18),
                                                  lag_parameter(1), store_parameter()};

const char* supports(const Problem&) { return nullptr; }

// Each PE but me gets at least a line a step, so many PEs need a larger ring.
std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  const auto steps = static_cast<std::size_t>(params[kLag]) + 2;
  const std::size_t least = steps * static_cast<std::size_t>(problem.pes) * 256;
  return std::bit_ceil(std::max(ring_of(params[kRingBytes]), least));
}

// `chunk_bytes` counts what a PE stages in a step: one piece for each other PE.
Pipeline pipeline(const Problem& problem, const Params& params) {
  const auto others = static_cast<std::size_t>(problem.pes > 1 ? problem.pes - 1 : 1);
  return Pipeline::plan(
      problem.count, size_of(problem.dtype), static_cast<std::size_t>(params[kChunkBytes]) / others,
      static_cast<std::size_t>(params[kLag]), scratch_bytes(problem, params), others, others);
}

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = pipeline(problem, params);
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t block = problem.count * size_of(problem.dtype);
  return {plan.chunks * (plan.wraps ? 2 : 1), (pes - 1) * block, (pes - 1) * block, pes * block};
}

class Direct {
 public:
  Direct(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(size_of(x.problem().dtype)),
        store_(store_of(params[kStore])) {}

  std::size_t steps() const { return plan_.chunks + plan_.lag; }

  void stage(std::size_t k) {
    if (k >= plan_.chunks) return;
    const Part part = plan_.part(k);
    const std::size_t bytes = part.size * element_;
    Staged& range = staged_[k % staged_.size()];
    range = x_.reserve(stride(part) * static_cast<std::size_t>(x_.pes() - 1), k + 1);
    for (int owner = 0; owner < x_.pes(); ++owner) {
      if (owner == x_.pe()) continue;
      x_.stage(range, place(x_.pe(), owner) * stride(part), input(owner, part), bytes, store_,
               owner);
    }
    x_.publish(k + 1);
  }

  void fold(std::size_t step) {
    if (step < plan_.lag) return;
    const std::size_t k = step - plan_.lag;
    const Part part = plan_.part(k);
    x_.await_all(k + 1);
    const auto sources = x_.sources();
    for (int pe = 0; pe < x_.pes(); ++pe) {
      sources[static_cast<std::size_t>(pe)] =
          pe == x_.pe() ? input(pe, part)
                        : x_.read(pe, staged_[k % staged_.size()],
                                  place(pe, x_.pe()) * stride(part), part.size * element_);
    }
    x_.fold(x_.out() + part.begin * element_, sources, part.size);
    if (plan_.wraps) x_.consumed(k + 1);
  }

 private:
  const std::byte* input(int block, const Part& part) const {
    return x_.in() + (static_cast<std::size_t>(block) * plan_.count + part.begin) * element_;
  }
  /// Where `from` stages what `owner` folds: the others in order.
  static std::size_t place(int from, int owner) {
    return static_cast<std::size_t>(owner < from ? owner : owner - 1);
  }
  std::size_t stride(const Part& part) const { return (part.size * element_ + 127) / 128 * 128; }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  std::array<Staged, 8> staged_;
};

void run(Execution& x, const Params& params) {
  Direct call(x, params);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    call.stage(step);
    call.fold(step);
  }
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::ReduceScatter,
    .name = "direct",
    .summary = "everyone stages the blocks of others, owners fold all of them",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce_scatter
