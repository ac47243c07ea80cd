// SPDX-License-Identifier: Apache-2.0
//
// Idea: in each round everyone exchanges one block with one partner, so no PE's staging is read by
//       two at a time, and little of it is in use.
// Phases: 1. exchange  p rounds a piece: my piece for the partner into my staging, the partner's
//                      into out; the round in which I am my own partner is a copy
// Cost a PE: p - 1 rounds a piece; (p-1) n bytes stored, (p-1) n loaded.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: nothing is reduced. In place is safe: what a round writes, it has staged before.
// Signals: step s publishes what round s - 1 of the call staged (rounds of all pieces counted on);
//          `consumed` s says that I have read my partner's, raised only if the pieces do not all
//          fit in the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.3; the pairing is the round-robin tournament.
#include "collectives/alltoall/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/ring_pieces.hpp"
#include "collectives/schedule/pairing.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::alltoall {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = ring_pieces::pipeline(problem, params);
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t bytes = (pes - 1) * block_bytes(problem);
  return {plan.chunks * (pes - 1 + (plan.wraps ? pes : 0)), bytes, bytes, 0};
}

class Rounds {
 public:
  Rounds(Execution& x, const Params& params)
      : x_(x),
        plan_(ring_pieces::pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())) {}

  std::size_t pieces() const { return plan_.chunks; }

  void exchange(std::size_t piece, int round) {
    const Part part = plan_.part(piece);
    const std::size_t bytes = part.size * element_;
    const int partner = pair_partner(x_.pe(), round, x_.pes());
    const std::size_t at =
        (static_cast<std::size_t>(partner) * plan_.count + part.begin) * element_;
    const Staged range = x_.reserve(bytes, ++step_);  // by all, so that positions stay equal
    if (partner == x_.pe()) {
      x_.copy(x_.out() + at, x_.in() + at, bytes);
    } else {
      x_.stage(range, 0, x_.in() + at, bytes, StoreKind::Cached, partner);
      x_.publish(step_);
      x_.await(partner, step_);
      x_.copy(x_.out() + at, x_.read(partner, range, 0, bytes), bytes);
    }
    if (plan_.wraps) x_.consumed(step_);
  }

 private:
  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  std::uint64_t step_ = 0;
};

void run(Execution& x, const Params& params) {
  Rounds call(x, params);
  for (std::size_t piece = 0; piece < call.pieces(); ++piece) {
    for (int round = 0; round < x.pes(); ++round) call.exchange(piece, round);
  }
}

}  // namespace

constinit const Algorithm kPairwise = {
    .collective = Collective::Alltoall,
    .name = "pairwise",
    .summary = "in each round everyone exchanges a block with one partner",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = ring_pieces::kParameters,
    .supports = needs::two_pes,
    .scratch_bytes = ring_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::alltoall
