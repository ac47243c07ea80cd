// SPDX-License-Identifier: Apache-2.0
//
// Idea: in each round a PE and its partner exchange all that they have and both fold it: log2 p
//       steps with one reader each, where one_shot has one step with p - 1 readers.
// Phases: 1. offer   my piece; where p is no power of two, a PE behind the largest one gives its
//                    piece to a PE in front, which folds it into its own
//         2. fold    log2 p rounds: the partner's and mine, the lower PE's first
//         3. finish  the PEs behind copy the result
// Cost a PE: log2 p steps a piece; log2 p n bytes stored and loaded, log2 p folds of n x 2.
// Needs: p >= 2, any count; a ring of `ring_bytes`; no average.
// Order: by halves; the same folds in the same order on every PE, so the same bits: not the left
//        fold. From left to right where p is a power of two; else what PEs behind give comes early.
// Signals: with R rounds, piece m has the steps from m (R + 2): 1 is what PEs behind give, r + 2
//          what is read in round r, R + 2 the result for PEs behind. `consumed` (m + 1) (R + 2)
//          says that I have read piece m, raised only if the pieces do not all fit in the ring.
// Source: Thakur, Rabenseifner, Gropp 2005, section 4.5.
#include <algorithm>
#include <array>

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
                                                  chunk_parameter(1 << 18)};

int rounds_of(const Problem& problem) { return doubling_rounds(Extras::of(problem.pes).core); }

/// A piece is staged for each round, and twice for the PEs behind.
std::size_t times_of(const Problem& problem) {
  const bool extras = Extras::of(problem.pes).any(problem.pes);
  return static_cast<std::size_t>(rounds_of(problem) + (extras ? 2 : 0));
}

const char* supports(const Problem& problem) {
  if (const char* reason = needs::pairs(problem)) return reason;
  if (problem.commutative || !Extras::of(problem.pes).any(problem.pes)) return nullptr;
  return "keeps the order of a power of two of PEs only, and the operation is not commutative";
}

std::size_t scratch_bytes(const Problem& problem, const Params& params) {
  const std::size_t times = times_of(problem);
  return std::max(ring_of(params[kRingBytes]),
                  Pipeline::least_ring(element_bytes(problem), 0, times, times));
}

Pipeline pipeline(const Problem& problem, const Params& params) {
  const std::size_t times = times_of(problem);
  return Pipeline::plan(problem.count, element_bytes(problem),
                        static_cast<std::size_t>(params[kChunkBytes]), 0,
                        scratch_bytes(problem, params), times, times);
}

Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(problem, params);
  const Extras extras = Extras::of(problem.pes);
  const auto rounds = static_cast<std::uint64_t>(rounds_of(problem));
  const std::uint64_t bytes = bytes_of(problem);
  const std::uint64_t consumed = plan.wraps ? plan.chunks : 0;
  if (extras.is_extra(pe)) return {plan.chunks + consumed, bytes, bytes, 0};
  const std::uint64_t more = extras.extra(pe, problem.pes) >= 0 ? 1 : 0;
  return {more + plan.chunks * (rounds + more) + consumed, (rounds + more) * bytes,
          (rounds + more) * bytes, 2 * (rounds + more) * bytes};
}

class DoublingCall {
 public:
  DoublingCall(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(element_bytes(x.problem())),
        extras_(Extras::of(x.pes())),
        rounds_(rounds_of(x.problem())),
        extra_(extras_.is_extra(x.pe()) ? -1 : extras_.extra(x.pe(), x.pes())) {}

  std::size_t pieces() const { return plan_.chunks; }
  int rounds() const { return rounds_; }
  bool behind() const { return extras_.is_extra(x_.pe()); }

  /// By all, so that positions stay equal.
  void start(std::size_t piece) {
    part_ = plan_.part(piece);
    steps_ = static_cast<std::uint64_t>(rounds_) + 2;
    first_step_ = piece * steps_;
    if (extras_.any(x_.pes())) given_ = reserve();
    for (int round = 0; round < rounds_; ++round) staged(round) = reserve();
    if (extras_.any(x_.pes())) result_ = reserve();
  }

  void give() {
    x_.stage(given_, 0, in(), bytes(), StoreKind::Cached, extras_.keeper(x_.pe()));
    x_.publish(first_step_ + 1);
  }

  void offer() {
    const int reader = doubling_partner(x_.pe(), 0);
    if (extra_ < 0) {
      x_.stage(staged(0), 0, in(), bytes(), StoreKind::Cached, reader);
    } else {
      x_.await(extra_, first_step_ + 1);
      const std::array<const std::byte*, 2> sources = {in(), x_.read(extra_, given_, 0, bytes())};
      x_.fold(x_.write(staged(0), 0, bytes()), sources, part_.size);
      x_.written(staged(0), 0, bytes(), reader);
    }
    x_.publish(first_step_ + 2);
  }

  void fold(int round) {
    const int partner = doubling_partner(x_.pe(), round);
    const bool last = round == rounds_ - 1;
    const auto step = first_step_ + static_cast<std::uint64_t>(round) + 2;
    x_.await(partner, step);
    const std::byte* mine =
        round == 0 && extra_ < 0 ? in() : x_.read(x_.pe(), staged(round), 0, bytes());
    const std::byte* theirs = x_.read(partner, staged(round), 0, bytes());
    const bool first = x_.pe() < partner;
    const std::array<const std::byte*, 2> sources = {first ? mine : theirs, first ? theirs : mine};
    if (last && extra_ < 0) {
      x_.fold(out(), sources, part_.size);
      return;
    }
    const Staged& next = last ? result_ : staged(round + 1);
    const std::array<std::byte*, 2> outs = {x_.write(next, 0, bytes()), out()};
    x_.fold(std::span(outs.data(), last ? 2 : 1), sources, part_.size);
    x_.written(next, 0, bytes(), last ? extra_ : doubling_partner(x_.pe(), round + 1));
    x_.publish(step + 1);
  }

  void take_result() {
    const int keeper = extras_.keeper(x_.pe());
    x_.await(keeper, first_step_ + steps_);
    x_.copy(out(), x_.read(keeper, result_, 0, bytes()), bytes());
  }

  void finish() {
    if (plan_.wraps) x_.consumed(first_step_ + steps_);
  }

 private:
  Staged reserve() { return x_.reserve(bytes(), first_step_ + steps_); }
  Staged& staged(int round) { return staged_[static_cast<std::size_t>(round)]; }
  std::size_t bytes() const { return part_.size * element_; }
  const std::byte* in() const { return x_.in() + part_.begin * element_; }
  std::byte* out() const { return x_.out() + part_.begin * element_; }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const Extras extras_;
  const int rounds_;
  const int extra_;  // whose piece I fold into mine, or -1
  Part part_;
  std::uint64_t steps_ = 0;
  std::uint64_t first_step_ = 0;
  Staged given_;
  Staged result_;
  std::array<Staged, 32> staged_;  // of each round
};

void run(Execution& x, const Params& params) {
  DoublingCall call(x, params);
  for (std::size_t piece = 0; piece < call.pieces(); ++piece) {
    call.start(piece);
    if (call.behind()) {
      call.give();
      call.take_result();
    } else {
      call.offer();
      for (int round = 0; round < call.rounds(); ++round) call.fold(round);
    }
    call.finish();
  }
}

}  // namespace

constinit const Algorithm kRecursiveDoubling = {
    .collective = Collective::Allreduce,
    .name = "recursive_doubling",
    .summary = "pairs exchange all that they have and fold it, at doubling distances",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = false,
    .parameters = kParameters,
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
    .keeps_order = true,
};

}  // namespace tutti::detail::allreduce
