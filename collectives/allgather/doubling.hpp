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
    const Pipeline plan = pipeline(problem, params);
    const std::uint64_t block = problem.count * element_bytes(problem);
    const auto rounds = static_cast<std::uint64_t>(doubling_rounds(problem.pes));
    return {plan.chunks * (rounds + (plan.wraps ? 1 : 0)), staged(problem) * block,
            (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0};
  }

  Doubling(Execution& x, const Params& params, BlockAt block_at)
      : x_(x),
        block_at_(block_at),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        rounds_(doubling_rounds(x.pes())) {}

  void run() {
    for (std::size_t m = 0; m < plan_.chunks; ++m) {
      offer(m);
      for (int round = 0; round < rounds_; ++round) take_over(round);
      if (plan_.wraps) x_.consumed(step_);
    }
  }

 private:
  /// Blocks that are staged: all but those of the last round.
  static std::size_t staged(const Problem& problem) {
    return std::size_t{1} << (doubling_rounds(problem.pes) - 1);
  }
  static Pipeline pipeline(const Problem& problem, const Params& params) {
    return round_pieces::pipeline(problem, params, staged(problem));
  }

  void offer(std::size_t m) {
    part_ = plan_.part(m);
    const std::byte* mine = x_.in() + part_.begin * element_;
    range_ =
        x_.reserve(staged(x_.problem()) * stride(), step_ + static_cast<std::uint64_t>(rounds_));
    x_.stage(range_, 0, mine, bytes(), StoreKind::Cached);
    x_.copy(out(x_.pe()), mine, bytes());
    x_.publish(++step_);
  }

  void take_over(int round) {
    const int have = 1 << round;
    const int from = block_at_(x_.pe(), have, x_.pes());
    const bool last = round == rounds_ - 1;
    x_.await(from, step_);
    for (int i = 0; i < doubling_blocks(round, x_.pes()); ++i) {
      const std::byte* block = x_.read(from, range_, place(i), bytes());
      x_.copy(out(block_at_(from, i, x_.pes())), block, bytes());
      if (!last) x_.stage(range_, place(have + i), block, bytes(), StoreKind::Cached);
    }
    if (!last) x_.publish(++step_);
  }

  std::size_t bytes() const { return part_.size * element_; }
  std::size_t stride() const { return whole_granules(bytes()); }
  std::size_t place(int i) const { return static_cast<std::size_t>(i) * stride(); }
  std::byte* out(int block) const {
    return x_.out() + (static_cast<std::size_t>(block) * plan_.count + part_.begin) * element_;
  }

  Execution& x_;
  const BlockAt block_at_;
  const Pipeline plan_;
  const std::size_t element_;
  const int rounds_;
  Part part_;
  Staged range_;
  std::uint64_t step_ = 0;
};

}  // namespace tutti::detail::allgather
