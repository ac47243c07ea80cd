// SPDX-License-Identifier: Apache-2.0
//
// Idea: partial results climb a tree in chunks and results come down it, both at the same time. A
//       PE reads its children and its parent, nobody else.
// Phases: 1. climb    chunk k: my input and all my children's partial results in one fold, into my
//                     staging; on the root into out and its staging
//         2. descend  `lag` chunks later: the result from my parent into out and, if I have
//                     children, into my staging
// Cost a PE: chunks + lag steps of two; at most 2 n bytes stored, (children + 1) n loaded, one fold
//            of children + 1 sources.
// Needs: p >= 2, any count; a ring of `ring_bytes`; no average.
// Order: by the tree, computed once at the root: not the left fold.
// Signals: step 2i + 1 publishes my partial result of chunk i (on the root: the result), step
//          2i + 2 the result of chunk i - lag. `consumed` 2i + 2 says that I have read both, raised
//          only if the vector is longer than the ring.
// Source: Sanders, Speck, Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
//         scan" (2009), section 2 (the single pipelined tree).
#include <algorithm>
#include <array>

#include "collectives/allreduce/registry.hpp"
#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "primitives/kary_tree.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

enum : std::size_t { kRingBytes, kChunkBytes, kLag, kFanout };
constexpr std::array<Parameter, 4> kParameters = {
    ring_parameter(4 << 20), chunk_parameter(1 << 17), lag_parameter(2),
    Parameter{"fanout", 1, 8, 2, "children of a PE in the tree"}};

const char* supports(const Problem& problem) {
  if (problem.op == Op::Avg) return "folds in parts, and an average is divided once";
  return problem.pes < 2 ? "needs at least 2 PEs" : nullptr;
}

std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return std::max(
      ring_of(params[kRingBytes]),
      Pipeline::least_ring(element_bytes(problem), static_cast<std::size_t>(params[kLag]), 2, 2));
}

// A chunk is staged twice: partial result, then result.
Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(
      problem.count, element_bytes(problem), static_cast<std::size_t>(params[kChunkBytes]),
      static_cast<std::size_t>(params[kLag]), scratch_bytes(problem, params), 2, 2);
}

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const auto fanout = static_cast<int>(params[kFanout]);
  const auto children = static_cast<std::uint64_t>(kary_children(pe, fanout, problem.pes));
  const std::uint64_t bytes = bytes_of(problem);
  const std::uint64_t is_parent = children > 0 ? 1 : 0;
  const std::uint64_t is_child = pe > 0 ? 1 : 0;
  return {
      is_parent + (is_parent + is_child) * plan.chunks + (plan.wraps ? plan.chunks + plan.lag : 0),
      (is_parent + is_child) * bytes, (children + is_child) * bytes,
      is_parent * (children + 1) * bytes};
}

/// Up to the root and down again.
int hops(const Problem& problem, const Params& params) {
  int depth = 0;
  for (int pe = problem.pes - 1; pe > 0; pe = kary_parent(pe, static_cast<int>(params[kFanout]))) {
    ++depth;
  }
  return 2 * depth;
}

class Tree {
 public:
  Tree(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        parent_(kary_parent(x.pe(), static_cast<int>(params[kFanout]))),
        first_child_(kary_first_child(x.pe(), static_cast<int>(params[kFanout]))),
        children_(kary_children(x.pe(), static_cast<int>(params[kFanout]), x.pes())) {}

  std::size_t steps() const { return plan_.chunks + plan_.lag; }

  void climb(std::size_t k) {
    if (k >= plan_.chunks) return;
    const Part part = plan_.part(k);
    const std::size_t bytes = part.size * element_;
    const std::byte* mine = x_.in() + part.begin * element_;
    Ranges& ranges = ranges_[k % ranges_.size()];
    ranges.up = x_.reserve(bytes, 2 * (k + plan_.lag) + 2);
    ranges.down = x_.reserve(bytes, 2 * (k + plan_.lag) + 2);
    if (children_ == 0) {
      x_.stage(ranges.up, 0, mine, bytes, StoreKind::Cached, parent_);
    } else {
      const auto sources = x_.sources();
      sources[0] = mine;
      for (int i = 0; i < children_; ++i) {
        x_.await(first_child_ + i, 2 * k + 1);
        sources[static_cast<std::size_t>(i) + 1] = x_.read(first_child_ + i, ranges.up, 0, bytes);
      }
      const bool root = parent_ < 0;
      const std::array<std::byte*, 2> outs = {x_.write(root ? ranges.down : ranges.up, 0, bytes),
                                              x_.out() + part.begin * element_};
      x_.fold(std::span(outs.data(), root ? 2 : 1),
              sources.first(static_cast<std::size_t>(children_) + 1), part.size);
      if (root) {
        written(ranges.down, bytes);
      } else {
        x_.written(ranges.up, 0, bytes, parent_);
      }
    }
    x_.publish(2 * k + 1);
  }

  void descend(std::size_t step) {
    if (step >= plan_.lag && parent_ >= 0) {
      const std::size_t k = step - plan_.lag;
      const Part part = plan_.part(k);
      const std::size_t bytes = part.size * element_;
      const Ranges& ranges = ranges_[k % ranges_.size()];
      std::byte* out = x_.out() + part.begin * element_;
      x_.await(parent_, parent_ == 0 ? 2 * k + 1 : 2 * step + 2);
      x_.copy(out, x_.read(parent_, ranges.down, 0, bytes), bytes);
      if (children_ > 0) {
        x_.copy(x_.write(ranges.down, 0, bytes), out, bytes);
        written(ranges.down, bytes);
        x_.publish(2 * step + 2);
      }
    }
    if (plan_.wraps) x_.consumed(2 * step + 2);
  }

 private:
  struct Ranges {
    Staged up;
    Staged down;
  };

  void written(const Staged& range, std::size_t bytes) {
    for (int i = 0; i < children_; ++i) x_.written(range, 0, bytes, first_child_ + i);
  }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const int parent_;
  const int first_child_;
  const int children_;
  std::array<Ranges, 8> ranges_;  // of the chunks in flight: more than the largest lag
};

void run(Execution& x, const Params& params) {
  Tree call(x, params);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    call.climb(step);
    call.descend(step);
  }
}

}  // namespace

constinit const Algorithm kTree = {
    .collective = Collective::Allreduce,
    .name = "tree",
    .summary = "partial results climb a tree, results come down it",
    .source = "Sanders, Speck, Traff 2009",
    .keeps_ordered = false,
    .parameters = kParameters,
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
    .hops = hops,
};

}  // namespace tutti::detail::allreduce
