// SPDX-License-Identifier: Apache-2.0
//
// Idea: in each round a group of PEs splits in halves; a PE and its partner in the other half
//       exchange their partial blocks, and each folds those of its own half.
// Phases: 1. offer   my input of the half of all blocks that the partner keeps
//         2. halve   log2 p rounds: the partner's partial blocks of my half and mine into my
//                    staging; in the last round my one block into out
// Cost a PE: log2 p rounds a piece; (3/2 p - 2) n bytes stored (n for two PEs), (p-1) n loaded,
//            (p-1) folds of n x 2.
// Needs: p a power of two, at least 2; any count; a ring of `ring_bytes`; no average.
// Order: by halves, the lower PE first: not the left fold.
// Signals: with R rounds a piece, step m R + r + 1 publishes what is read in round r of piece m;
//          `consumed` (m + 1) R says that I have read piece m, raised only if the pieces do not all
//          fit in the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.4.
#include <array>

#include "collectives/problem_facts.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "collectives/round_pieces.hpp"
#include "collectives/schedule/doubling.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::reduce_scatter {
namespace {

/// Blocks that a piece is staged in: half of all at first, then what each round but the last folds.
std::size_t staged(const Problem& problem) {
  const auto pes = static_cast<std::size_t>(problem.pes);
  return pes / 2 + pes - 2;
}

std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  return round_pieces::scratch_bytes(problem, params, staged(problem));
}

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = round_pieces::pipeline(problem, params, staged(problem));
  const auto rounds = static_cast<std::uint64_t>(doubling_rounds(problem.pes));
  const std::uint64_t block = block_bytes(problem);
  const std::uint64_t others = static_cast<std::uint64_t>(problem.pes) - 1;
  return {plan.chunks * (rounds + (plan.wraps ? 1 : 0)), staged(problem) * block, others * block,
          2 * others * block};
}

class HalvingCall {
 public:
  HalvingCall(Execution& x, const Params& params)
      : x_(x),
        piece_(x.problem(), params, staged(x.problem())),
        rounds_(doubling_rounds(x.pes())) {}

  std::size_t pieces() const { return piece_.count(); }
  int rounds() const { return rounds_; }

  void offer(std::size_t piece) {
    piece_.take(piece);
    last_step_ = step_ + static_cast<std::uint64_t>(rounds_);
    const Halving at = Halving::of(x_.pe(), 0, x_.pes());
    staged_ = x_.reserve(piece_.place(at.half), last_step_);
    for (int i = 0; i < at.half; ++i) {
      x_.stage(staged_, piece_.place(i), input(at.theirs + i), piece_.bytes(), StoreKind::Cached,
               at.partner);
    }
    x_.publish(++step_);
  }

  void halve(int round) {
    const Halving at = Halving::of(x_.pe(), round, x_.pes());
    const bool last = round == rounds_ - 1;
    const Staged from = staged_;
    x_.await(at.partner, step_);
    if (!last) staged_ = x_.reserve(piece_.place(at.half), last_step_);
    for (int i = 0; i < at.half; ++i) {
      const int block = at.mine + i;
      std::byte* out =
          last ? x_.out() + piece_.offset() : x_.write(staged_, piece_.place(i), piece_.bytes());
      x_.fold(out, sources(at, round, from, block), piece_.size());
    }
    if (!last) hand_on(round + 1);
    if (last && piece_.wraps()) x_.consumed(step_);
  }

 private:
  /// What was folded for the half that the next partner keeps.
  void hand_on(int round) {
    const Halving next = Halving::of(x_.pe(), round, x_.pes());
    for (int i = 0; i < next.half; ++i) {
      x_.written(staged_, piece_.place(next.theirs - next.group + i), piece_.bytes(), next.partner);
    }
    x_.publish(++step_);
  }

  /// My own and the partner's partial block, the lower PE's first.
  std::array<const std::byte*, 2> sources(const Halving& at, int round, const Staged& from,
                                          int block) {
    // At first only the other's half is staged; later the blocks of the whole group.
    const std::size_t theirs = piece_.place(round == 0 ? block - at.mine : block - at.group);
    const std::byte* mine =
        round == 0 ? input(block)
                   : x_.read(x_.pe(), from, piece_.place(block - at.group), piece_.bytes());
    const std::byte* other = x_.read(at.partner, from, theirs, piece_.bytes());
    if (x_.pe() < at.partner) return {mine, other};
    return {other, mine};
  }

  const std::byte* input(int block) const { return x_.in() + piece_.offset(block); }

  Execution& x_;
  round_pieces::Pieces piece_;
  const int rounds_;
  Staged staged_;  // what is read in the next round
  std::uint64_t step_ = 0;
  std::uint64_t last_step_ = 0;  // of this piece
};

void run(Execution& x, const Params& params) {
  HalvingCall call(x, params);
  for (std::size_t piece = 0; piece < call.pieces(); ++piece) {
    call.offer(piece);
    for (int round = 0; round < call.rounds(); ++round) call.halve(round);
  }
}

}  // namespace

constinit const Algorithm kRecursiveHalving = {
    .collective = Collective::ReduceScatter,
    .name = "recursive_halving",
    .summary = "groups split in halves that exchange partial blocks",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = false,
    .parameters = round_pieces::kParameters,
    .supports = needs::pairs_and_power_of_two,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::reduce_scatter
