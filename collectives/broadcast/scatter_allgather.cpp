// SPDX-License-Identifier: Apache-2.0
//
// Idea: each PE takes one slice from the root and hands it to all others, so that most of what is
//       read is not read from the root.
// Phases: 1. stage   the root stages block b; step 2b + 1
//         2. take    everyone else copies its slice from the root, into out and its staging: 2b + 2
//         3. gather  one block later: the slices of the others into out
// Cost a PE: blocks + 1 steps of two; n bytes stored by the root, n / p by each other; n loaded.
// Needs: any p, any count, any root; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step 2b + 1 of the root publishes block b, step 2b + 2 of the others their slice of it.
//          `consumed` 2i + 2 says that I have taken block i and gathered block i - 1, raised only
//          if the vector is longer than the ring.
// Source: Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, "Interprocessor collective
//         communication library" (1994), long-vector broadcast.
#include <array>

#include "collectives/broadcast/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/rooted_pieces.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::broadcast {
namespace {

using rooted_pieces::kStore;
constexpr std::size_t kLag = 1;

// A block is staged by the root, and in slices by the others.
Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(problem.count, element_bytes(problem),
                        static_cast<std::size_t>(params[rooted_pieces::kChunkBytes]), kLag,
                        rooted_pieces::scratch_bytes(problem, params), 2, 4);
}

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const std::uint64_t consumed = plan.wraps ? plan.chunks + kLag : 0;
  if (pe == 0) return {plan.chunks + consumed, bytes_of(problem), 0, 0};
  std::uint64_t slices = 0;
  for (std::size_t b = 0; b < plan.chunks; ++b) {
    slices += slice_of(problem, plan.part(b).size, pe).size * element_bytes(problem);
  }
  return {1 + plan.chunks + consumed, slices, bytes_of(problem), 0};
}

int hops(const Problem&, const Params&) { return 2; }

class Slices {
 public:
  Slices(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        store_(store_of(params[kStore])) {}

  std::size_t steps() const { return plan_.chunks + kLag; }

  void stage(std::size_t b) {
    if (b >= plan_.chunks) return;
    const Part block = plan_.part(b);
    Ranges& ranges = ranges_[b % ranges_.size()];
    const std::uint64_t done = 2 * (b + kLag) + 2;
    ranges.whole = x_.reserve(block.size * element_, done);
    ranges.slice = x_.reserve(slice(block, 0).size * element_, done);
    if (x_.pe() != x_.root()) return;
    for (int owner = 0; owner < x_.pes(); ++owner) {
      // The root's own slice is read by all, the others' by their owners.
      const Part part = slice(block, owner);
      x_.stage(ranges.whole, part.begin * element_, out(block, part), part.size * element_, store_,
               owner == x_.root() ? Execution::kAllReaders : owner);
    }
    x_.publish(2 * b + 1);
  }

  void take(std::size_t b) {
    if (b >= plan_.chunks || x_.pe() == x_.root()) return;
    const Part block = plan_.part(b);
    const Ranges& ranges = ranges_[b % ranges_.size()];
    const Part mine = slice(block, x_.pe());
    const std::size_t bytes = mine.size * element_;
    x_.await(x_.root(), 2 * b + 1);
    x_.copy(out(block, mine), x_.read(x_.root(), ranges.whole, mine.begin * element_, bytes),
            bytes);
    x_.stage(ranges.slice, 0, out(block, mine), bytes, store_);
    x_.publish(2 * b + 2);
  }

  void gather(std::size_t step) {
    if (step >= kLag && x_.pe() != x_.root()) {
      const std::size_t b = step - kLag;
      for (int i = 1; i < x_.pes(); ++i) gather_from(ring_place(x_.pe(), i, x_.pes()), b);
    }
    if (plan_.wraps) x_.consumed(2 * step + 2);
  }

 private:
  struct Ranges {
    Staged whole;
    Staged slice;
  };

  void gather_from(int owner, std::size_t b) {
    const Part block = plan_.part(b);
    const Ranges& ranges = ranges_[b % ranges_.size()];
    const Part part = slice(block, owner);
    const std::size_t bytes = part.size * element_;
    const bool from_root = owner == x_.root();
    x_.await(owner, from_root ? 2 * b + 1 : 2 * b + 2);
    x_.copy(out(block, part),
            from_root ? x_.read(owner, ranges.whole, part.begin * element_, bytes)
                      : x_.read(owner, ranges.slice, 0, bytes),
            bytes);
  }
  Part slice(const Part& block, int pe) const { return slice_of(x_.problem(), block.size, pe); }
  std::byte* out(const Part& block, const Part& part) const {
    return x_.out() + (block.begin + part.begin) * element_;
  }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  std::array<Ranges, 2> ranges_;  // of the blocks in flight
};

void run(Execution& x, const Params& params) {
  Slices call(x, params);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    call.stage(step);
    call.take(step);
    call.gather(step);
  }
}

}  // namespace

constinit const Algorithm kScatterAllgather = {
    .collective = Collective::Broadcast,
    .name = "scatter_allgather",
    .summary = "each PE takes a slice from the root and hands it to all others",
    .source = "Barnett et al. 1994",
    .keeps_ordered = true,
    .parameters = rooted_pieces::kParameters,
    .supports = needs::two_pes,
    .scratch_bytes = rooted_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
    .hops = hops,
};

}  // namespace tutti::detail::broadcast
