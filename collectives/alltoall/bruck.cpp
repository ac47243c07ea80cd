// SPDX-License-Identifier: Apache-2.0
//
// Idea: log2 p rounds instead of p - 1 readers: a block travels to its reader in the powers of two
//       that its distance is the sum of, together with all others that go that way.
// Phases: 1. pass on  log2 p rounds: the blocks whose distance has bit r, from my input or from
//                     where they came by last, into my staging
//         2. take     all blocks, from where they arrived, into out
// Cost a PE: log2 p steps a piece; about p/2 log2 p n bytes stored, as many loaded.
// Needs: p >= 2, any count; a ring of `ring_bytes`.
// Order: nothing is reduced. In place is safe: out is written when all rounds of a piece are over.
// Signals: with R rounds a piece, step m R + r + 1 publishes the blocks of round r of piece m;
//          `consumed` (m + 1) R says that I have read piece m, raised only if the pieces do not all
//          fit in the ring.
// Source: Bruck, Ho, Kipnis, Upfal, Weathersby 1997.
#include "collectives/schedule/bruck.hpp"

#include <algorithm>
#include <array>

#include "collectives/alltoall/registry.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/round_pieces.hpp"
#include "collectives/schedule/doubling.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::alltoall {
namespace {

/// Blocks that are staged for each piece, over all rounds.
std::size_t staged(const Problem& problem) {
  int blocks = 0;
  for (int round = 0; round < doubling_rounds(problem.pes); ++round) {
    blocks += bruck_moving(problem.pes, round);
  }
  return static_cast<std::size_t>(std::max(blocks, 1));
}

std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return round_pieces::scratch_bytes(problem, params, staged(problem));
}

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = round_pieces::pipeline(problem, params, staged(problem));
  const auto rounds = static_cast<std::uint64_t>(doubling_rounds(problem.pes));
  const std::uint64_t bytes = staged(problem) * block_bytes(problem);
  return {plan.chunks * (rounds + (plan.wraps ? 1 : 0)), bytes, bytes, 0};
}

class Bruck {
 public:
  Bruck(Execution& x, const Params& params)
      : x_(x),
        piece_(x.problem(), params, staged(x.problem())),
        rounds_(doubling_rounds(x.pes())) {}

  std::size_t pieces() const { return piece_.count(); }
  int rounds() const { return rounds_; }

  void start(std::size_t piece) {
    piece_.take(piece);
    first_step_ = piece * static_cast<std::uint64_t>(rounds_);
  }

  void pass_on(int round) {
    const int to = ring_place(x_.pe(), 1 << round, x_.pes());
    const auto moving = static_cast<std::size_t>(bruck_moving(x_.pes(), round));
    Staged& range = staged_[static_cast<std::size_t>(round)];
    range = x_.reserve(piece_.place(moving), first_step_ + static_cast<std::uint64_t>(rounds_));
    if (round > 0) await_round(round - 1);
    for (int block = 1; block < x_.pes(); ++block) {
      if (!bruck_moves(block, round)) continue;
      x_.stage(range, place(block, round), where(block, round), piece_.bytes(), StoreKind::Cached,
               to);
    }
    x_.publish(first_step_ + static_cast<std::uint64_t>(round) + 1);
  }

  void take() {
    await_round(rounds_ - 1);
    x_.copy(x_.out() + piece_.offset(x_.pe()), x_.in() + piece_.offset(x_.pe()), piece_.bytes());
    for (int block = 1; block < x_.pes(); ++block) {
      x_.copy(x_.out() + piece_.offset(ring_place(x_.pe(), -block, x_.pes())),
              where(block, rounds_), piece_.bytes());
    }
    if (piece_.wraps()) x_.consumed(first_step_ + static_cast<std::uint64_t>(rounds_));
  }

 private:
  void await_round(int round) {
    x_.await(ring_place(x_.pe(), -(1 << round), x_.pes()),
             first_step_ + static_cast<std::uint64_t>(round) + 1);
  }

  /// The block that I have under this number before a round.
  const std::byte* where(int block, int round) {
    const int came = bruck_came(block, round);
    if (came < 0) return x_.in() + piece_.offset(ring_place(x_.pe(), block, x_.pes()));
    return x_.read(ring_place(x_.pe(), -(1 << came), x_.pes()),
                   staged_[static_cast<std::size_t>(came)], place(block, came), piece_.bytes());
  }

  std::size_t place(int block, int round) const { return piece_.place(bruck_moving(block, round)); }

  Execution& x_;
  round_pieces::Pieces piece_;
  const int rounds_;
  std::uint64_t first_step_ = 0;
  std::array<Staged, 32> staged_;  // of each round
};

void run(Execution& x, const Params& params) {
  Bruck call(x, params);
  for (std::size_t piece = 0; piece < call.pieces(); ++piece) {
    call.start(piece);
    for (int round = 0; round < call.rounds(); ++round) call.pass_on(round);
    call.take();
  }
}

}  // namespace

constinit const Algorithm kBruck = {
    .collective = Collective::Alltoall,
    .name = "bruck",
    .summary = "blocks travel by powers of two, many at a time",
    .source = "Bruck, Ho, Kipnis, Upfal, Weathersby 1997",
    .keeps_ordered = true,
    .parameters = round_pieces::kParameters,
    .supports = needs::two_pes,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::alltoall
