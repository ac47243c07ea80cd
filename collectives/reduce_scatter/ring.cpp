// SPDX-License-Identifier: Apache-2.0
//
// Idea: partial sums of a block travel around the ring of PEs and end at the block's owner.
// Phases: 1. offer  my input of the block that the next PE folds first
//         2. fold   p-1 steps: the previous PE's partial block and my input; the last one is mine
// Cost a PE: p steps a piece; (p-1) n bytes stored, (p-1) n loaded, (p-1) folds of n x 2.
// Needs: p >= 2, any count; a ring of `ring_bytes`.
// Order: block d is folded in the order d+1, d+2, ..., d: not the left fold.
// Signals: each step publishes one staged piece; `consumed` says that I have read the previous
//          PE's step, raised only if the pieces do not all fit in the ring.
// Source: Chan, Heimlich, Purkayastha, van de Geijn 2007, bucket reduce-scatter.
#include <array>

#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "collectives/ring_pieces.hpp"
#include "collectives/schedule/ring_steps.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatter {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = ring_pieces::pipeline(problem, params);
  const auto steps = static_cast<std::uint64_t>(problem.pes) - 1;
  const std::uint64_t bytes = steps * block_bytes(problem);
  return {plan.chunks * (steps + (plan.wraps ? steps : 0)), bytes, bytes, 2 * bytes};
}

class RingCall {
 public:
  RingCall(Execution& x, const Params& params)
      : x_(x),
        plan_(ring_pieces::pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        before_(ring_before(x.pe(), x.pes())) {}

  std::size_t pieces() const { return plan_.chunks; }
  void start(std::size_t piece) { part_ = plan_.part(piece); }

  void offer() {
    reserve();
    x_.stage(staged_, 0, input(ring_first_slice(x_.pe(), x_.pes())), bytes());
    x_.publish(step_);
  }

  void fold(int i) {
    const Staged theirs = staged_;
    const std::uint64_t their_step = step_;
    x_.await(before_, their_step);
    const std::array<const std::byte*, 2> sources = {x_.read(before_, theirs, 0, bytes()),
                                                     input(ring_fold_slice(x_.pe(), i, x_.pes()))};
    if (i == x_.pes() - 2) {
      x_.fold(x_.out() + part_.begin * element_, sources, part_.size);
    } else {
      reserve();
      x_.fold(x_.write(staged_, 0, bytes()), sources, part_.size);
      x_.written(staged_, 0, bytes());
      x_.publish(step_);
    }
    if (plan_.wraps) x_.consumed(their_step);
  }

 private:
  std::size_t bytes() const { return part_.size * element_; }
  const std::byte* input(int block) const {
    return x_.in() + (static_cast<std::size_t>(block) * plan_.count + part_.begin) * element_;
  }
  void reserve() { staged_ = x_.reserve(bytes(), ++step_); }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const int before_;
  Part part_;
  Staged staged_;  // what the step before published, on every PE
  std::uint64_t step_ = 0;
};

void run(Execution& x, const Params& params) {
  RingCall call(x, params);
  for (std::size_t piece = 0; piece < call.pieces(); ++piece) {
    call.start(piece);
    call.offer();
    for (int i = 0; i < x.pes() - 1; ++i) call.fold(i);
  }
}

}  // namespace

constinit const Algorithm kRing = {
    .collective = Collective::ReduceScatter,
    .name = "ring",
    .summary = "partial blocks travel around the ring of PEs",
    .source = "Chan, Heimlich, Purkayastha, van de Geijn 2007",
    .keeps_ordered = false,
    .parameters = ring_pieces::kParameters,
    .supports = needs::pairs,
    .scratch_bytes = ring_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce_scatter
