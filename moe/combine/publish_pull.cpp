// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/kernels/fold.hpp"
#include "moe/phases.hpp"
#include "moe/registry.hpp"
#include "moe/weighted_sum.hpp"
#include "primitives/copy.hpp"
#include "primitives/fault.hpp"

// Idea. The owner of an expert leaves its outputs where they were computed; the home PE of a token
// reads the K outputs and folds them in one pass.
//
// Phases. 1 stage: for each reader my verdict and the first row of its tokens in each of my
// experts; outputs that are not in `output_rows` are copied there, except those of my own tokens.
// 2 publish. 3 agree: await all, then all PEs judge the same verdicts. 4 fold_tokens: each of my
// tokens from the outputs of its experts.
//
// Cost a PE. 1 word raised. Stored: 4 bytes a local expert and PE; the outputs of others' tokens if
// they are not in `output_rows`. Loaded: K rows a token, and of each PE one head with 4 bytes an
// expert. Folded: K rows a token.
//
// Order. k ascending, in f32, rounded once: independent of PEs and placement.
//
// Signals. The arrival of the call, raised once, publishes heads and outputs. Heads: combine c uses
// half c mod 2, and in combine c - 1 this PE has awaited everybody, who have left c - 2 by then.
// Outputs: they are read in the one combine of a handle that succeeds. They are written again
// by the next handle, whose dispatch has awaited everybody: who posts a dispatch has left every
// combine before it. A combine that ends in an agreed error reads no outputs on any PE.
//
// Source. As dispatch/publish_pull.

namespace tutti::moe {
namespace {

bool in_output_rows(const CombineCall& call) {
  return call.rows == call.plan.output_row(0) && call.rows_stride_bytes == call.plan.row_bytes;
}

/// Copies the outputs of others' tokens to where they can be read.
void stage_outputs(const CombineCall& call) {
  const PlanState& plan = call.plan;
  for (std::size_t row = 0; row < plan.total; ++row) {
    const int source = plan.sources[row].pe;
    if (source == plan.pe() || source < 0) continue;
    detail::copy(plan.output_row(row), call.rows + row * call.rows_stride_bytes, plan.row_bytes);
  }
}

/// Brings what PE `reader` needs to its mirror, if it has one.
void push_to(const CombineCall& call, std::size_t parity, int reader) {
  const PlanState& plan = call.plan;
  const auto local = static_cast<std::size_t>(plan.local());
  plan.shared->push(reader, plan.layout.head_for(parity, reader), plan.layout.head_bytes);
  plan.shared->push(reader, plan.layout.combine[parity].text, kTextBytes);
  if (!call.refusal.empty()) return;
  for (std::size_t i = 0; i < local; ++i) {
    const std::size_t first = plan.base[local * static_cast<std::size_t>(reader) + i];
    const std::size_t end = reader + 1 < plan.pes()
                                ? plan.base[local * (static_cast<std::size_t>(reader) + 1) + i]
                                : static_cast<std::size_t>(plan.offsets[i] + plan.counts[i]);
    plan.shared->push(reader, plan.layout.outputs + first * plan.row_bytes,
                      (end - first) * plan.row_bytes);
  }
}

void stage(const CombineCall& call, std::size_t parity) {
  const PlanState& plan = call.plan;
  write_combine_heads(call, parity);
  if (call.refusal.empty() && !in_output_rows(call)) stage_outputs(call);
  for (int pe = 0; !plan.shared->all_direct() && pe < plan.pes(); ++pe) push_to(call, parity, pe);
  detail::delay_here("moe.combine.staged");
}

/// The output for entry `at` ([tokens, topk]) of my routing, which is routed somewhere.
const void* output_of(const CombineCall& call, std::size_t parity, std::size_t at) {
  const PlanState& plan = call.plan;
  const auto slot = static_cast<std::size_t>(plan.routing.slot[at]);
  const int owner = plan.placement.owner[slot];
  const std::size_t head = plan.layout.head_for(parity, plan.pe()) + sizeof(CombineHead);
  const auto expert = slot - static_cast<std::size_t>(plan.placement.first_of(owner));
  const std::size_t row = plan.of<std::uint32_t>(owner, head)[expert] + plan.routing.index[at];
  if (owner == plan.pe()) return call.rows + row * call.rows_stride_bytes;
  return plan.of<std::byte>(owner, plan.layout.outputs + row * plan.row_bytes);
}

void fold_tokens(const CombineCall& call, std::size_t parity) {
  PlanState& plan = call.plan;
  const Routing& routing = plan.routing;
  const detail::DenormalGuard guard;
  for (std::size_t token = 0; token < routing.tokens; ++token) {
    if (routing.active[token] == 0 && plan.options.inactive == Inactive::Keep) continue;
    std::size_t n = 0;
    for (std::size_t at = token * routing.topk; at < (token + 1) * routing.topk; ++at) {
      if (routing.slot[at] == Routing::kNone) continue;
      plan.fold_rows[n] = output_of(call, parity, at);
      plan.fold_weights[n++] = call.weights[at];
    }
    weighted_sum(plan.options.dtype, call.out + token * call.out_stride_bytes,
                 std::span(plan.fold_rows).first(n), std::span(plan.fold_weights).first(n),
                 plan.options.hidden);
  }
}

void run(CombineCall& call) {
  PlanState& plan = call.plan;
  const std::size_t parity = plan.combines % 2;
  stage(call, parity);
  plan.lane().publish(1);  // heads and outputs
  plan.lane().await_all(1);
  check_combine_heads(plan, parity);
  detail::delay_here("moe.combine.fold");
  fold_tokens(call, parity);
}

}  // namespace

namespace combine {
const CombineAlgorithm kPublishPull = {
    "publish_pull", "outputs read where the experts wrote them, folded by the token's PE",
    "this project; data flow of DeepEP (DeepSeek, 2025) and of the seed", run};
}  // namespace combine

}  // namespace tutti::moe
