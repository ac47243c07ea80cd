// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "collectives/round_pieces.hpp"
#include "collectives/schedule/doubling.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgather {

/// What Bruck's allgather and recursive doubling have in common: in each round a PE takes over all
/// blocks of another one, into out and (but for the last round) behind its own in its staging.
/// Rounds of all pieces are counted on: with R rounds a piece, step m R + r + 1 publishes what was
/// staged before round r of piece m, and `consumed` (m + 1) R says that I have read piece m, raised
/// only if the pieces do not all fit in the ring.
class Doubling {
 public:
  /// The block in a place of a PE's staging.
  using BlockAt = int (*)(int pe, int place, int pes);

  static std::size_t scratch_bytes(const Problem& problem, const Params& params) {
    return round_pieces::scratch_bytes(problem, params, staged(problem));
  }
  static Traffic traffic(const Problem& problem, const Params& params, int) {
    const Pipeline plan = round_pieces::pipeline(problem, params, staged(problem));
    const std::uint64_t block = problem.count * element_bytes(problem);
    const auto rounds = static_cast<std::uint64_t>(doubling_rounds(problem.pes));
    return {plan.chunks * (rounds + (plan.wraps ? 1 : 0)), staged(problem) * block,
            (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0};
  }

  Doubling(Execution& x, const Params& params, BlockAt block_at)
      : x_(x),
        block_at_(block_at),
        piece_(x.problem(), params, staged(x.problem())),
        rounds_(doubling_rounds(x.pes())) {}

  void run() {
    for (std::size_t m = 0; m < piece_.count(); ++m) {
      offer(m);
      for (int round = 0; round < rounds_; ++round) take_over(round);
      if (piece_.wraps()) x_.consumed(step_);
    }
  }

 private:
  /// Blocks that are staged: all but those of the last round.
  static std::size_t staged(const Problem& problem) {
    return std::size_t{1} << (doubling_rounds(problem.pes) - 1);
  }

  void offer(std::size_t m) {
    piece_.take(m);
    const std::byte* mine = x_.in() + piece_.offset();
    range_ =
        x_.reserve(piece_.place(staged(x_.problem())), step_ + static_cast<std::uint64_t>(rounds_));
    x_.stage(range_, 0, mine, piece_.bytes(), StoreKind::Cached);
    x_.copy(out(x_.pe()), mine, piece_.bytes());
    x_.publish(++step_);
  }

  void take_over(int round) {
    const int have = 1 << round;
    const int from = block_at_(x_.pe(), have, x_.pes());
    const bool last = round == rounds_ - 1;
    x_.await(from, step_);
    for (int i = 0; i < doubling_blocks(round, x_.pes()); ++i) {
      const std::byte* block = x_.read(from, range_, piece_.place(i), piece_.bytes());
      x_.copy(out(block_at_(from, i, x_.pes())), block, piece_.bytes());
      if (last) continue;
      x_.stage(range_, piece_.place(have + i), block, piece_.bytes(), StoreKind::Cached);
    }
    if (!last) x_.publish(++step_);
  }

  std::byte* out(int block) const { return x_.out() + piece_.offset(block); }

  Execution& x_;
  const BlockAt block_at_;
  round_pieces::Pieces piece_;
  const int rounds_;
  Staged range_;
  std::uint64_t step_ = 0;
};

}  // namespace tutti::detail::allgather
