// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages its block in chunks; everyone copies all other blocks straight from their
//       owners. Short blocks have empty chunks at the end.
// Phases: 1. stage  copy chunk k of my block into my ring and publish it as step k + 1
//         2. gather `lag` chunks later: chunk k of every other block into out
// Cost a PE: ceil(longest / chunk) steps; my block stored, all others loaded.
// Needs: any p, any counts; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 publishes chunk k; `consumed` k + 1 says that I have copied chunk k of all,
//          raised only if the longest block is longer than the ring.
// Source: MPI Forum, MPI 4.0, section 6.7 (the operation); direct exchange is folklore.
#include <array>

#include "collectives/allgatherv/registry.hpp"
#include "collectives/counted_blocks.hpp"
#include "collectives/problem_facts.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgatherv {
namespace {

enum : std::size_t { kRingBytes, kChunkBytes, kLag, kStore };
constexpr std::array<Parameter, 4> kParameters = {ring_parameter(2 << 20), chunk_parameter(1 << 18),
                                                  lag_parameter(1), store_parameter()};

std::size_t scratch_bytes(const Problem&, const Params& params) {
  return ring_of(params[kRingBytes]);
}

Pipeline pipeline(std::size_t longest, const Problem& problem, const Params& params) {
  return Pipeline::plan(longest, element_bytes(problem),
                        static_cast<std::size_t>(params[kChunkBytes]),
                        static_cast<std::size_t>(params[kLag]), ring_of(params[kRingBytes]));
}

// Of counts as equal as can be; others are not among the facts of a problem.
Traffic traffic(const Problem& problem, const Params& params, int pe) {
  const Pipeline plan = pipeline(even_count(problem, 0), problem, params);
  const std::uint64_t mine = even_count(problem, pe) * element_bytes(problem);
  return {plan.chunks * (plan.wraps ? 2 : 1), mine, bytes_of(problem) - mine, 0};
}

class Chunks {
 public:
  Chunks(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(longest_block(x), x.problem(), params)),
        element_(element_bytes(x.problem())),
        store_(store_of(params[kStore])) {}

  std::size_t steps() const { return plan_.chunks + plan_.lag; }

  void stage(std::size_t k) {
    if (k >= plan_.chunks) return;
    const Part mine = chunk(x_.pe(), k);
    Staged& range = staged_[k % staged_.size()];
    range = x_.reserve(plan_.part(k).size * element_, k + 1);
    x_.stage(range, 0, x_.in() + mine.begin * element_, mine.size * element_, store_);
    x_.publish(k + 1);
  }

  void gather(std::size_t step) {
    if (step < plan_.lag) return;
    const std::size_t k = step - plan_.lag;
    for (int i = 0; i < x_.pes(); ++i) {
      const int pe = ring_place(x_.pe(), i, x_.pes());  // not all from PE 0 at once
      const Part part = chunk(pe, k);
      const std::size_t bytes = part.size * element_;
      x_.await(pe, k + 1);
      const std::byte* from = pe == x_.pe() ? x_.in() + part.begin * element_
                                            : x_.read(pe, staged_[k % staged_.size()], 0, bytes);
      x_.copy(x_.out() + (x_.out_block(pe).begin + part.begin) * element_, from, bytes);
    }
    if (plan_.wraps) x_.consumed(k + 1);
  }

 private:
  Part chunk(int pe, std::size_t k) const {
    return piece_of(k, x_.out_block(pe).size, plan_.chunk);
  }

  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  std::array<Staged, 8> staged_;  // the chunks in flight: more than the largest lag
};

void run(Execution& x, const Params& params) {
  Chunks call(x, params);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    call.stage(step);
    call.gather(step);
  }
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Allgatherv,
    .name = "direct",
    .summary = "everyone stages its block, everyone copies all others",
    .source = "MPI 4.0, section 6.7",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = needs::nothing,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allgatherv
