// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone exchanges with its two neighbours in turn: first single blocks, then pairs of
//       blocks, always what the other neighbour gave last. Half as many steps as around a ring.
// Phases: 1. offer     my piece, staged
//         2. pair up   the partner's piece into out and, behind mine, into my staging
//         3. exchange  p/2 - 1 steps: two pieces from a neighbour, into out and (but for the last
//                      step) into my staging
// Cost a PE: p/2 steps a piece; (p-2) n bytes stored (n with two PEs), (p-1) n loaded.
// Needs: an even p, any count; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: steps of all pieces are counted on. With R = p/2, step m R + i + 1 publishes what was
//          staged before step i of piece m; `consumed` (m + 1) R says that I have read piece m,
//          raised only if the pieces do not all fit in the ring.
// Source: Chen, Zhang, Zhang, Yuan, "Performance evaluation of allgather algorithms on terascale
//         Linux cluster with fast Ethernet" (2005).
#include "collectives/schedule/neighbour_exchange.hpp"

#include <algorithm>
#include <cstddef>

#include "collectives/allgather/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/round_pieces.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgather {
namespace {

const char* supports(const Problem& problem) {
  if (const char* reason = needs::two_pes(problem)) return reason;
  return problem.pes % 2 == 0 ? nullptr : "needs an even number of PEs";
}

/// Blocks that are staged: all but the two of the last step.
std::size_t staged(const Problem& problem) {
  return static_cast<std::size_t>(std::max(problem.pes - 2, 1));
}

std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return round_pieces::scratch_bytes(problem, params, staged(problem));
}

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = round_pieces::pipeline(problem, params, staged(problem));
  const std::uint64_t block = block_bytes(problem);
  const auto steps = static_cast<std::uint64_t>(neighbour_steps(problem.pes));
  return {plan.chunks * (steps + (plan.wraps ? 1 : 0)), staged(problem) * block,
          (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0};
}

class Exchange {
 public:
  Exchange(Execution& x, const Params& params)
      : x_(x), piece_(x.problem(), params, staged(x.problem())), steps_(neighbour_steps(x.pes())) {}

  std::size_t pieces() const { return piece_.count(); }
  int steps() const { return steps_; }

  /// Places 2 i and 2 i + 1 of my staging hold the pair that I offer in step i + 1.
  void offer(std::size_t piece) {
    piece_.take(piece);
    const std::byte* mine = x_.in() + piece_.offset();
    range_ = x_.reserve(piece_.place(staged(x_.problem())),
                        published_ + static_cast<std::uint64_t>(steps_));
    x_.stage(range_, piece_.place(own_place(x_.pe())), mine, piece_.bytes());
    x_.copy(out(x_.pe()), mine, piece_.bytes());
    x_.publish(++published_);
  }

  void pair_up() {
    const int partner = neighbour_partner(x_.pe(), 0, x_.pes());
    x_.await(partner, published_);
    const bool last = steps_ == 1;
    take_over(partner, own_place(partner), partner, last ? kNowhere : own_place(partner));
    if (!last) x_.publish(++published_);
  }

  void exchange(int step) {
    const int from = neighbour_partner(x_.pe(), step, x_.pes());
    const bool last = step == steps_ - 1;
    x_.await(from, published_);
    const int first = 2 * neighbour_pair(x_.pe(), step, x_.pes());
    for (int i = 0; i < 2; ++i) {
      take_over(from, 2 * (step - 1) + i, first + i, last ? kNowhere : 2 * step + i);
    }
    if (!last) x_.publish(++published_);
  }

  void leave() {
    if (piece_.wraps()) x_.consumed(published_);
  }

 private:
  static constexpr int kNowhere = -1;

  /// Where a PE stages its own block, and its partner what it takes over of it.
  int own_place(int pe) const { return steps_ == 1 ? 0 : pe % 2; }

  /// What a neighbour has in a place of its staging is the piece of `block`.
  void take_over(int from, int theirs, int block, int mine) {
    const std::byte* piece = x_.read(from, range_, piece_.place(theirs), piece_.bytes());
    x_.copy(out(block), piece, piece_.bytes());
    if (mine != kNowhere) x_.stage(range_, piece_.place(mine), piece, piece_.bytes());
  }

  std::byte* out(int block) const { return x_.out() + piece_.offset(block); }

  Execution& x_;
  round_pieces::Pieces piece_;
  const int steps_;
  Staged range_;
  std::uint64_t published_ = 0;
};

void run(Execution& x, const Params& params) {
  Exchange call(x, params);
  for (std::size_t piece = 0; piece < call.pieces(); ++piece) {
    call.offer(piece);
    call.pair_up();
    for (int step = 1; step < call.steps(); ++step) call.exchange(step);
    call.leave();
  }
}

}  // namespace

constinit const Algorithm kNeighbourExchange = {
    .collective = Collective::Allgather,
    .name = "neighbour_exchange",
    .summary = "everyone exchanges pairs of blocks with its two neighbours in turn",
    .source = "Chen, Zhang, Zhang, Yuan 2005",
    .keeps_ordered = true,
    .parameters = round_pieces::kParameters,
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allgather
