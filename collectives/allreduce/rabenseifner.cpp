// SPDX-License-Identifier: Apache-2.0
//
// Idea: a reduce-scatter by recursive halving, then an allgather by recursive doubling: log2 p
//       steps each, and a vector's worth of bytes in all.
// Phases: 1. offer   my input of the half of block b that the partner keeps
//         2. halve   log2 p rounds: the partner's partial slices of my half and mine into my
//                    staging; in the last round my slice into out and my staging
//         3. double  log2 p rounds: the slices that the partner's group has, into out and (but for
//                    the last round) my staging
// Cost a PE: 2 log2 p steps a block; at most 5/2 n bytes stored, 2 (p-1)/p n loaded, (p-1)/p n x 2
//            folded.
// Needs: p a power of two, at least 2; any count; a ring of `ring_bytes`; no average.
// Order: by halves, the lower PE first; each slice once, so the same bits: not the left fold.
// Signals: with R rounds, block b has the steps from 2 b R: r + 1 publishes what is read in round r
//          of the halving, R + r + 1 what is read in round r of the doubling. `consumed`
//          2 (b + 1) R says that I have read block b, raised only if the vector does not fit in
//          the ring.
// Source: Rabenseifner, "Optimization of Collective Reduction Operations" (2004).
#include <algorithm>
#include <array>
#include <bit>

#include "collectives/allreduce/registry.hpp"
#include "collectives/parameters.hpp"
#include "collectives/problem_facts.hpp"
#include "collectives/schedule/doubling.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
namespace {

enum : std::size_t { kRingBytes, kChunkBytes };
constexpr std::array<Parameter, 2> kParameters = {ring_parameter(4 << 20),
                                                  chunk_parameter(1 << 20)};
/// Slices are whole lines, so many PEs need a larger ring.
std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  const auto pes = static_cast<std::size_t>(problem.pes);
  return std::max({ring_of(params[kRingBytes]), std::bit_ceil(pes * 2048),
                   Pipeline::least_ring(element_bytes(problem), 0, 3, 3 * pes + 2)});
}

// A block is staged two and a half times, in slices.
Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(
      problem.count, element_bytes(problem), static_cast<std::size_t>(params[kChunkBytes]), 0,
      scratch_bytes(problem, params), 3, 3 * static_cast<std::size_t>(problem.pes) + 2);
}

/// Slices [first, first + n) of a block, which lie side by side.
Part slices_of(const Problem& problem, const Part& block, int first, int n) {
  const Part last = slice_of(problem, block.size, first + n - 1);
  const std::size_t begin = slice_of(problem, block.size, first).begin;
  return {begin, last.begin + last.size - begin};
}

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const int rounds = doubling_rounds(problem.pes);
  Traffic sum{plan.chunks * (2 * static_cast<std::uint64_t>(rounds) + (plan.wraps ? 1 : 0)), 0, 0,
              0};
  for (std::size_t b = 0; b < plan.chunks; ++b) {
    const auto bytes = [&](int first, int n) {
      return slices_of(problem, plan.part(b), first, n).size * element_bytes(problem);
    };
    const Halving start = Halving::of(pe, 0, problem.pes);
    sum.bytes_stored += bytes(start.theirs, start.half);
    for (int round = 0; round < rounds; ++round) {
      const Halving at = Halving::of(pe, round, problem.pes);
      const std::uint64_t folded = bytes(at.mine, at.half);
      const std::uint64_t gathered =
          bytes(doubling_group(doubling_partner(pe, round), round), 1 << round);
      sum.bytes_stored += folded + (round < rounds - 1 ? gathered : 0);
      sum.bytes_loaded += folded + gathered;
      sum.bytes_folded += 2 * folded;
    }
  }
  return sum;
}

class RabenseifnerCall {
 public:
  RabenseifnerCall(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        rounds_(doubling_rounds(x.pes())) {}

  std::size_t blocks() const { return plan_.chunks; }
  int rounds() const { return rounds_; }

  void offer(std::size_t b) {
    block_ = plan_.part(b);
    last_step_ = step_ + 2 * static_cast<std::uint64_t>(rounds_);
    const Halving at = Halving::of(x_.pe(), 0, x_.pes());
    const Part part = slices(at.theirs, at.half);
    partial_ = reserve(at.half);
    x_.stage(partial_, 0, in(part), bytes(part), StoreKind::Cached, at.partner);
    x_.publish(++step_);
  }

  void halve(int round) {
    const Halving at = Halving::of(x_.pe(), round, x_.pes());
    const Part part = slices(at.mine, at.half);
    // At first only the other's half is staged; later the slices of the whole group.
    const std::size_t offset = round == 0 ? 0 : bytes_between(at.group, at.mine);
    const Staged from = partial_;
    x_.await(at.partner, step_);
    const std::byte* mine = round == 0 ? in(part) : x_.read(x_.pe(), from, offset, bytes(part));
    const std::byte* theirs = x_.read(at.partner, from, offset, bytes(part));
    const bool first = x_.pe() < at.partner;
    const std::array<const std::byte*, 2> sources = {first ? mine : theirs, first ? theirs : mine};
    if (round < rounds_ - 1) {
      partial_ = reserve(at.half);
      x_.fold(x_.write(partial_, 0, bytes(part)), sources, part.size);
      const Halving next = Halving::of(x_.pe(), round + 1, x_.pes());
      x_.written(partial_, bytes_between(next.group, next.theirs),
                 bytes(slices(next.theirs, next.half)), next.partner);
    } else {
      result_ = reserve(x_.pes());
      const std::size_t at_result = bytes_between(0, at.mine);
      const std::array<std::byte*, 2> outs = {x_.write(result_, at_result, bytes(part)), out(part)};
      x_.fold(outs, sources, part.size);
      x_.written(result_, at_result, bytes(part), doubling_partner(x_.pe(), 0));
    }
    x_.publish(++step_);
  }

  void gather(int round) {
    const int partner = doubling_partner(x_.pe(), round);
    const Part part = slices(doubling_group(partner, round), 1 << round);
    const std::size_t offset = part.begin * element_;
    x_.await(partner, step_);
    const std::byte* from = x_.read(partner, result_, offset, bytes(part));
    x_.copy(out(part), from, bytes(part));
    if (round == rounds_ - 1) {
      if (plan_.wraps) x_.consumed(step_);
      return;
    }
    x_.copy(x_.write(result_, offset, bytes(part)), from, bytes(part));
    const Part all = slices(doubling_group(x_.pe(), round + 1), 2 << round);
    x_.written(result_, all.begin * element_, bytes(all), doubling_partner(x_.pe(), round + 1));
    x_.publish(++step_);
  }

 private:
  Part slices(int first, int n) const { return slices_of(x_.problem(), block_, first, n); }
  std::size_t bytes(const Part& part) const { return part.size * element_; }
  std::size_t bytes_between(int from, int to) const {
    return (slices(to, 1).begin - slices(from, 1).begin) * element_;
  }
  /// Room for the longest `n` slices that there are, so that every PE reserves the same.
  Staged reserve(int n) { return x_.reserve(bytes(slices(0, n)), last_step_); }
  const std::byte* in(const Part& part) const {
    return x_.in() + (block_.begin + part.begin) * element_;
  }
  std::byte* out(const Part& part) const {
    return x_.out() + (block_.begin + part.begin) * element_;
  }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const int rounds_;
  Part block_;
  Staged partial_;  // what is read in the next round of the halving
  Staged result_;   // the block, as far as I have its slices
  std::uint64_t step_ = 0;
  std::uint64_t last_step_ = 0;  // of this block
};

void run(Execution& x, const Params& params) {
  RabenseifnerCall call(x, params);
  for (std::size_t b = 0; b < call.blocks(); ++b) {
    call.offer(b);
    for (int round = 0; round < call.rounds(); ++round) call.halve(round);
    for (int round = 0; round < call.rounds(); ++round) call.gather(round);
  }
}

}  // namespace

constinit const Algorithm kRabenseifner = {
    .collective = Collective::Allreduce,
    .name = "rabenseifner",
    .summary = "slices are folded by recursive halving and gathered by doubling",
    .source = "Rabenseifner 2004",
    .keeps_ordered = false,
    .parameters = kParameters,
    .supports = needs::pairs_and_power_of_two,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allreduce
