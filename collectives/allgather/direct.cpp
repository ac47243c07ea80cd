// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages its block in chunks; everyone copies all other blocks straight from their
//       owners.
// Phases: 1. stage  copy chunk k of my block into my ring and publish it as step k + 1
//         2. gather `lag` chunks later: chunk k of every other block into out
// Cost a PE: ceil(n / chunk) steps; n bytes stored, (p-1) n loaded.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: nothing is reduced.
// Signals: step k + 1 publishes chunk k; `consumed` k + 1 says that I have copied chunk k of all,
//          raised only if a block is longer than the ring.
// Source: MPI Forum, MPI 4.0, section 6.7 (the operation); direct exchange is folklore.
#include <array>

#include "collectives/allgather/registry.hpp"
#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allgather {
namespace {

enum : std::size_t { kRingBytes, kChunkBytes, kLag, kStore };
constexpr std::array<Parameter, 4> kParameters = {ring_parameter(2 << 20), chunk_parameter(1 << 18),
                                                  lag_parameter(1), store_parameter()};

const char* supports(const Problem&) { return nullptr; }

std::size_t scratch_bytes(const Problem&, const Params& params) {
  return ring_of(params[kRingBytes]);
}

Pipeline pipeline(const Problem& problem, const Params& params) {
  return Pipeline::plan(problem.count, size_of(problem.dtype),
                        static_cast<std::size_t>(params[kChunkBytes]),
                        static_cast<std::size_t>(params[kLag]), ring_of(params[kRingBytes]));
}

Traffic traffic(const Problem& problem, const Params& params, int) {
  const Pipeline plan = pipeline(problem, params);
  const std::uint64_t block = problem.count * size_of(problem.dtype);
  return {plan.chunks * (plan.wraps ? 2 : 1), block,
          (static_cast<std::uint64_t>(problem.pes) - 1) * block, 0};
}

class Direct {
 public:
  Direct(Execution& x, const Params& params)
      : x_(x),
        plan_(pipeline(x.problem(), params)),
        element_(size_of(x.problem().dtype)),
        store_(store_of(params[kStore])) {}

  std::size_t steps() const { return plan_.chunks + plan_.lag; }

  void stage(std::size_t k) {
    if (k >= plan_.chunks) return;
    const Part part = plan_.part(k);
    const std::size_t bytes = part.size * element_;
    Staged& range = staged_[k % staged_.size()];
    range = x_.reserve(bytes, k + 1);
    x_.stage(range, 0, x_.in() + part.begin * element_, bytes, store_);
    x_.publish(k + 1);
  }

  void gather(std::size_t step) {
    if (step < plan_.lag) return;
    const std::size_t k = step - plan_.lag;
    const Part part = plan_.part(k);
    const std::size_t bytes = part.size * element_;
    for (int i = 0; i < x_.pes(); ++i) {
      const int pe = ring_place(x_.pe(), i, x_.pes());  // not all from PE 0 at once
      x_.await(pe, k + 1);
      const std::byte* from = pe == x_.pe() ? x_.in() + part.begin * element_
                                            : x_.read(pe, staged_[k % staged_.size()], 0, bytes);
      const std::size_t at = static_cast<std::size_t>(pe) * plan_.count + part.begin;
      x_.copy(x_.out() + at * element_, from, bytes);
    }
    if (plan_.wraps) x_.consumed(k + 1);
  }

 private:
  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  std::array<Staged, 8> staged_;
};

void run(Execution& x, const Params& params) {
  Direct call(x, params);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    call.stage(step);
    call.gather(step);
  }
}

}  // namespace

constinit const Algorithm kDirect = {
    .collective = Collective::Allgather,
    .name = "direct",
    .summary = "everyone stages its block, everyone copies all others",
    .source = "MPI 4.0, section 6.7",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allgather
