// SPDX-License-Identifier: Apache-2.0
//
// Idea: blocks travel around the ring of PEs; every PE only ever reads from the PE before it.
// Phases: 1. offer   my block, as step 1
//         2. gather  p-1 steps: the block that the previous PE offered, into out and my staging
// Cost a PE: p steps a piece; (p-1) n bytes stored, (p-1) n loaded.
// Needs: p >= 2, any count; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: each step publishes one staged piece; `consumed` says that I have read the previous
//          PE's step, raised only if the pieces do not all fit in the ring.
// Source: Chan, Heimlich, Purkayastha, van de Geijn, "Collective communication: theory, practice,
//         and experience" (2007), bucket allgather.
#include <array>

#include "collectives/allgather/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/ring_pieces.hpp"
#include "collectives/schedule/ring_steps.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgather {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = ring_pieces::pipeline(problem, params);
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t bytes = (pes - 1) * block_bytes(problem);
  const std::uint64_t words = pes - 1 + (plan.wraps ? pes - 1 : 0);
  return {plan.chunks * words, bytes, bytes, 0};
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
    const std::byte* mine = x_.in() + part_.begin * element_;
    reserve();
    x_.stage(staged_, 0, mine, bytes());
    x_.copy(place_of(x_.pe()), mine, bytes());
    x_.publish(step_);
  }

  void gather(int i) {
    const int block = ring_gather_block(x_.pe(), i, x_.pes());
    const Staged theirs = staged_;
    const std::uint64_t their_step = step_;
    x_.await(before_, their_step);
    const std::byte* from = x_.read(before_, theirs, 0, bytes());
    x_.copy(place_of(block), from, bytes());
    if (i < x_.pes() - 2) {
      reserve();
      x_.stage(staged_, 0, from, bytes());
      x_.publish(step_);
    }
    if (plan_.wraps) x_.consumed(their_step);
  }

 private:
  std::size_t bytes() const { return part_.size * element_; }
  std::byte* place_of(int block) const {
    return x_.out() + (static_cast<std::size_t>(block) * plan_.count + part_.begin) * element_;
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
    for (int i = 0; i < x.pes() - 1; ++i) call.gather(i);
  }
}

}  // namespace

constinit const Algorithm kRing = {
    .collective = Collective::Allgather,
    .name = "ring",
    .summary = "blocks travel around the ring of PEs",
    .source = "Chan, Heimlich, Purkayastha, van de Geijn 2007",
    .keeps_ordered = true,
    .parameters = ring_pieces::kParameters,
    .supports = needs::two_pes,
    .scratch_bytes = ring_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allgather
