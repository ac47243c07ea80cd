// SPDX-License-Identifier: Apache-2.0
//
// Idea: in each round everyone exchanges one block of input with one partner and adds what it gets
//       to its own block; no PE's staging is read by two at a time.
// Phases: 1. exchange  p rounds a piece: my input of the partner's block into my staging, the
//                      partner's of mine and what I have so far into out
// Cost a PE: p - 1 rounds a piece; (p-1) n bytes stored, (p-1) n loaded, (p-1) folds of n x 2.
// Needs: p >= 2, any count; a ring of `ring_bytes`; no average.
// Order: my own input, then the partners' in the order of the rounds: not the left fold.
// Signals: step s publishes what round s - 1 of the call staged (rounds of all pieces counted on);
//          `consumed` s says that I have read my partner's, raised only if the pieces do not all
//          fit in the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.4; the pairing is the round-robin tournament.
#include <array>

#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "collectives/ring_pieces.hpp"
#include "collectives/schedule/pairing.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatter {
namespace {

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = ring_pieces::pipeline(problem, params);
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t bytes = (pes - 1) * block_bytes(problem);
  return {plan.chunks * (pes - 1 + (plan.wraps ? pes : 0)), bytes, bytes, 2 * bytes};
}

class Rounds {
 public:
  Rounds(Execution& x, const Params& params)
      : x_(x),
        plan_(ring_pieces::pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())) {}

  std::size_t pieces() const { return plan_.chunks; }

  void start(std::size_t piece) {
    part_ = plan_.part(piece);
    so_far_ = input(x_.pe());
  }

  void exchange(int round) {
    const std::size_t bytes = part_.size * element_;
    const int partner = pair_partner(x_.pe(), round, x_.pes());
    const Staged range = x_.reserve(bytes, ++step_);  // by all, so that positions stay equal
    if (partner != x_.pe()) {
      x_.stage(range, 0, input(partner), bytes, StoreKind::Cached, partner);
      x_.publish(step_);
      x_.await(partner, step_);
      const std::array<const std::byte*, 2> sources = {so_far_, x_.read(partner, range, 0, bytes)};
      std::byte* out = x_.out() + part_.begin * element_;
      x_.fold(out, sources, part_.size);
      so_far_ = out;
    }
    if (plan_.wraps) x_.consumed(step_);
  }

 private:
  const std::byte* input(int block) const {
    return x_.in() + (static_cast<std::size_t>(block) * plan_.count + part_.begin) * element_;
  }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  Part part_;
  const std::byte* so_far_ = nullptr;  // my input at first, then out
  std::uint64_t step_ = 0;
};

void run(Execution& x, const Params& params) {
  Rounds call(x, params);
  for (std::size_t piece = 0; piece < call.pieces(); ++piece) {
    call.start(piece);
    for (int round = 0; round < x.pes(); ++round) call.exchange(round);
  }
}

}  // namespace

constinit const Algorithm kPairwise = {
    .collective = Collective::ReduceScatter,
    .name = "pairwise",
    .summary = "in each round everyone exchanges a block with one partner and adds it",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = false,
    .parameters = ring_pieces::kParameters,
    .supports = needs::pairs,
    .scratch_bytes = ring_pieces::scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce_scatter
