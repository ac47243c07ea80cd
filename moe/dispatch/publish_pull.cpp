// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include "moe/phases.hpp"
#include "moe/registry.hpp"
#include "primitives/copy.hpp"
#include "primitives/fault.hpp"

// Idea. A PE publishes its tokens once, whatever their experts, with the list of who is for whom;
// the owners of the experts pull what they need, straight into its place.
//
// Phases. 1 stage: verdict, rows for each PE, the routing's `begin` and `entries`, and the tokens
// that some other PE needs go to my half of the dispatch memory. 2 publish. 3 agree: await all,
// then all PEs judge the same verdicts and counts. 4 lay_out_rows: from everybody's `begin`, where
// each source's rows go. 5 pull: row by row from the sources, beginning with my own tokens, which
// come from `x` itself.
//
// Cost a PE. 1 word raised. Stored: its tokens once (at most tokens * row bytes), 8 bytes a (token,
// k), 4 bytes an expert and PE. Loaded: its rows once, 8 bytes a row, and of each source one head
// and 4 bytes a local expert.
//
// Needs. Nothing: any number of PEs and experts, tokens from 0.
//
// Signals. The arrival of the call, raised once, publishes everything staged. Dispatch d uses half
// d mod 2. What PEs read in dispatch d - 2 may be overwritten in dispatch d, because in dispatch
// d - 1 this PE has awaited the arrivals of all, and who posts d - 1 has left d - 2. That holds
// too where an agreed error ended one of them: errors are agreed only after everybody was awaited.
// What was pushed to a mirror is covered by the same argument.
//
// Source. DeepEP's and the seed's data flow with one published header a source in place of a word
// a token.

namespace tutti::moe {
namespace {

std::byte* token_row(const PlanState& plan, std::size_t parity, std::size_t token) {
  return plan.mine<std::byte>(plan.layout.dispatch[parity].tokens + token * plan.row_bytes);
}

bool needed_elsewhere(const PlanState& plan, std::size_t token) {
  const std::size_t topk = plan.routing.topk;
  for (std::size_t k = 0; k < topk; ++k) {
    const std::uint32_t slot = plan.routing.slot[token * topk + k];
    if (slot != Routing::kNone && plan.placement.owner[slot] != plan.pe()) return true;
  }
  return false;
}

/// Brings what PE `pe` needs of my half to its mirror, if it has one.
void push_to(const PlanState& plan, std::size_t parity, int pe) {
  const SharedLayout::Dispatch& at = plan.layout.dispatch[parity];
  const Routing& routing = plan.routing;
  const auto pes = static_cast<std::size_t>(plan.pes());
  plan.shared->push(pe, at.head, sizeof(DispatchHead) + sizeof(std::uint32_t) * pes);
  plan.shared->push(pe, at.begin, sizeof(std::uint32_t) * routing.begin.size());
  plan.shared->push(pe, at.text, kTextBytes);
  const std::size_t first = routing.begin[static_cast<std::size_t>(plan.placement.first_of(pe))];
  const std::size_t count = routing.rows_for(plan.placement, pe);
  plan.shared->push(pe, at.entries + sizeof(Entry) * first, sizeof(Entry) * count);
  std::vector<bool> sent(routing.tokens);
  for (std::size_t i = first; i < first + count; ++i) {
    const std::size_t token = routing.entries[i].token;
    if (sent[token]) continue;
    sent[token] = true;
    plan.shared->push(pe, at.tokens + token * plan.row_bytes, plan.row_bytes);
  }
}

void stage(const DispatchCall& call, std::size_t parity) {
  const PlanState& plan = call.plan;
  const Routing& routing = plan.routing;
  const SharedLayout::Dispatch& at = plan.layout.dispatch[parity];
  write_dispatch_head(call, parity);
  detail::copy(plan.mine<std::byte>(at.begin), routing.begin.data(),
               sizeof(std::uint32_t) * routing.begin.size());
  detail::copy(plan.mine<std::byte>(at.entries), routing.entries.data(),
               sizeof(Entry) * routing.begin.back());
  for (std::size_t token = 0; token < routing.tokens; ++token) {
    if (!needed_elsewhere(plan, token)) continue;
    detail::copy(token_row(plan, parity, token), call.x + token * call.stride_bytes,
                 plan.row_bytes);
  }
  for (int pe = 0; !plan.shared->all_direct() && pe < plan.pes(); ++pe) push_to(plan, parity, pe);
  detail::delay_here("moe.dispatch.staged");
}

void pull_from(const DispatchCall& call, std::size_t parity, int source) {
  PlanState& plan = call.plan;
  const SharedLayout::Dispatch& at = plan.layout.dispatch[parity];
  const auto local = static_cast<std::size_t>(plan.local());
  const auto* begin = plan.of<std::uint32_t>(source, at.begin) + plan.placement.first_of(plan.pe());
  const auto* entries = plan.of<Entry>(source, at.entries);
  const bool own = source == plan.pe();
  const std::byte* tokens = own ? call.x : plan.of<std::byte>(source, at.tokens);
  const std::size_t stride = own ? call.stride_bytes : plan.row_bytes;
  for (std::size_t i = 0; i < local; ++i) {
    std::size_t row = plan.base[local * static_cast<std::size_t>(source) + i];
    for (std::size_t e = begin[i]; e < begin[i + 1]; ++e, ++row) {
      const Entry entry = entries[e];
      detail::copy(plan.received_row(row), tokens + entry.token * stride, plan.row_bytes);
      plan.sources[row] = {source, static_cast<std::int32_t>(entry.token),
                           static_cast<std::int32_t>(entry.k)};
    }
  }
  detail::delay_here("moe.dispatch.pulled");
}

void run(DispatchCall& call) {
  PlanState& plan = call.plan;
  const std::size_t parity = plan.dispatches % 2;
  stage(call, parity);
  plan.lane().publish(1);  // everything staged above
  plan.lane().await_all(1);
  check_dispatch_heads(plan, parity);
  lay_out_rows(plan, parity);
  for (int i = 0; i < plan.pes(); ++i) pull_from(call, parity, (plan.pe() + i) % plan.pes());
}

}  // namespace

namespace dispatch {
const DispatchAlgorithm kPublishPull = {
    "publish_pull", "tokens published once, pulled by the PEs of their experts",
    "this project; data flow of DeepEP (DeepSeek, 2025) and of the seed", run};
}  // namespace dispatch

}  // namespace tutti::moe
