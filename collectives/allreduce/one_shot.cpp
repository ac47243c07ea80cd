// SPDX-License-Identifier: Apache-2.0
//
// Idea: everyone stages its vector, everyone folds all vectors itself. One exchange; the vector
//       goes through a ring in chunks, so that writing one chunk overlaps reading another.
// Phases: 1. stage  copy chunk k into my ring and publish it as step k + 1
//         2. fold   `lag` chunks later: my input and all peers' staging, in PE order
// Cost a PE: ceil(n / chunk) steps; n bytes stored, (p-1) n loaded, one fold of p sources.
// Needs: any p, any count; a ring of `ring_bytes`.
// Order: the left fold in PE order on every PE, so the same bits everywhere.
// Signals: step k + 1 publishes chunk k. `consumed` k + 1 says that I have folded chunk k, raised
//          only if the vector is longer than the ring; between calls arrivals say it.
// Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
//         MPICH" (2005), section 4, "recursive doubling" discussion of direct exchange;
//         TensorRT-LLM calls the GPU form "one-shot".
#include <array>

#include "collectives/allreduce/registry.hpp"
#include "collectives/parameters.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "tutti/execution.hpp"

namespace tutti::detail::allreduce {
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
  const auto pes = static_cast<std::uint64_t>(problem.pes);
  const std::uint64_t bytes = bytes_of(problem);
  return {plan.chunks * (plan.wraps ? 2 : 1), bytes, (pes - 1) * bytes, pes * bytes};
}

class OneShot {
 public:
  OneShot(Execution& x, const Params& params)
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

  void fold(std::size_t step) {
    if (step < plan_.lag) return;
    const std::size_t k = step - plan_.lag;
    const Part part = plan_.part(k);
    const std::size_t offset = part.begin * element_;
    x_.await_all(k + 1);
    const auto sources = x_.sources();
    for (int pe = 0; pe < x_.pes(); ++pe) {
      sources[static_cast<std::size_t>(pe)] =
          pe == x_.pe() ? x_.in() + offset
                        : x_.read(pe, staged_[k % staged_.size()], 0, part.size * element_);
    }
    x_.fold(x_.out() + offset, sources, part.size);
    if (plan_.wraps) x_.consumed(k + 1);
  }

 private:
  Execution& x_;
  const Pipeline plan_;
  const std::size_t element_;
  const StoreKind store_;
  std::array<Staged, 8> staged_;  // the chunks in flight: more than the largest lag
};

void run(Execution& x, const Params& params) {
  OneShot call(x, params);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    call.stage(step);
    call.fold(step);
  }
}

}  // namespace

constinit const Algorithm kOneShot = {
    .collective = Collective::Allreduce,
    .name = "one_shot",
    .summary = "everyone stages its vector, everyone folds all of them",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .keeps_ordered = true,
    .parameters = kParameters,
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .traffic = traffic,
    .run = run,
};

}  // namespace tutti::detail::allreduce
