// SPDX-License-Identifier: Apache-2.0
#include "moe/phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::moe {
namespace {

using detail::CallKind;

void write_text(char* to, std::string_view text) {
  const std::size_t bytes = std::min(text.size(), kTextBytes - 1);
  text.copy(to, bytes);
  to[bytes] = '\0';
}

std::uint32_t* rows_for(const PlanState& plan, std::size_t parity) {
  return plan.mine<std::uint32_t>(plan.layout.dispatch[parity].head + sizeof(DispatchHead));
}

std::uint64_t received_by(const PlanState& plan, std::size_t parity, int pe) {
  const std::size_t offset = plan.layout.dispatch[parity].head + sizeof(DispatchHead);
  std::uint64_t rows = 0;
  for (int source = 0; source < plan.pes(); ++source) {
    rows += plan.of<std::uint32_t>(source, offset)[pe];
  }
  return rows;
}

[[noreturn]] void throw_refused(const PlanState& plan, CallKind kind, int pe,
                                std::size_t text_offset) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("{}: PE {}: {}", plan.operation(kind), pe,
                                                      plan.of<char>(pe, text_offset)));
}

}  // namespace

void write_dispatch_head(const DispatchCall& call, std::size_t parity) {
  const PlanState& plan = call.plan;
  const SharedLayout::Dispatch& at = plan.layout.dispatch[parity];
  DispatchHead head{Verdict::Good, 0, 0, 0};
  if (!call.refusal.empty()) {
    head.verdict = Verdict::Refused;
    write_text(plan.mine<char>(at.text), call.refusal);
  } else if (call.bad) {
    head = {Verdict::BadId, call.bad->token, call.bad->k, call.bad->id};
  }
  *plan.mine<DispatchHead>(at.head) = head;
  for (int pe = 0; pe < plan.pes(); ++pe) {
    rows_for(plan, parity)[pe] = plan.routing.rows_for(plan.placement, pe);
  }
}

void write_combine_heads(const CombineCall& call, std::size_t parity) {
  const PlanState& plan = call.plan;
  const bool good = call.refusal.empty();
  if (!good) write_text(plan.mine<char>(plan.layout.combine[parity].text), call.refusal);
  const auto local = static_cast<std::size_t>(plan.local());
  for (int reader = 0; reader < plan.pes(); ++reader) {
    const std::size_t offset = plan.layout.head_for(parity, reader);
    plan.mine<CombineHead>(offset)->verdict = good ? Verdict::Good : Verdict::Refused;
    if (!good) continue;
    std::copy_n(plan.base.begin() + static_cast<std::ptrdiff_t>(local) * reader, local,
                plan.mine<std::uint32_t>(offset + sizeof(CombineHead)));
  }
}

void check_dispatch_heads(const PlanState& plan, std::size_t parity) {
  const SharedLayout::Dispatch& at = plan.layout.dispatch[parity];
  for (int pe = 0; pe < plan.pes(); ++pe) {
    const DispatchHead& head = *plan.of<DispatchHead>(pe, at.head);
    if (head.verdict == Verdict::Good) [[likely]] {
      continue;
    }
    if (head.verdict == Verdict::Refused) throw_refused(plan, CallKind::MoeDispatch, pe, at.text);
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{}: PE {}, token {}, k {}: expert id is {}; allowed are 0 to {}, and -1 "
                    "for none",
                    plan.operation(CallKind::MoeDispatch), pe, head.token, head.k, head.id,
                    plan.options.experts - 1));
  }
  for (int pe = 0; pe < plan.pes(); ++pe) {
    const std::uint64_t rows = received_by(plan, parity, pe);
    if (rows <= plan.max_rows) continue;
    throw Error(ErrorCode::OutOfMemory,
                fmt::format("{}: PE {} would receive {} rows, the plan has room for {} on each PE; "
                            "raise PlanOptions::max_rows",
                            plan.operation(CallKind::MoeDispatch), pe, rows, plan.max_rows));
  }
}

void check_combine_heads(const PlanState& plan, std::size_t parity) {
  const std::size_t head = plan.layout.head_for(parity, plan.pe());
  for (int pe = 0; pe < plan.pes(); ++pe) {
    if (plan.of<CombineHead>(pe, head)->verdict == Verdict::Good) continue;
    throw_refused(plan, CallKind::MoeCombine, pe, plan.layout.combine[parity].text);
  }
}

void lay_out_rows(PlanState& plan, std::size_t parity) {
  const auto local = static_cast<std::size_t>(plan.local());
  const auto first = static_cast<std::size_t>(plan.placement.first_of(plan.pe()));
  const auto padding = static_cast<std::size_t>(plan.options.padding);
  std::ranges::fill(plan.counts, 0);
  for (int pe = 0; pe < plan.pes(); ++pe) {
    const auto* begin = plan.of<std::uint32_t>(pe, plan.layout.dispatch[parity].begin) + first;
    for (std::size_t i = 0; i < local; ++i) {
      plan.base[local * static_cast<std::size_t>(pe) + i] =
          static_cast<std::uint32_t>(plan.counts[i]);
      plan.counts[i] += static_cast<std::int32_t>(begin[i + 1] - begin[i]);
    }
  }
  std::size_t row = 0;
  for (std::size_t i = 0; i < local; ++i) {
    plan.offsets[i] = static_cast<std::int64_t>(row);
    for (std::size_t pe = 0; pe < static_cast<std::size_t>(plan.pes()); ++pe) {
      plan.base[local * pe + i] += static_cast<std::uint32_t>(row);
    }
    const auto count = static_cast<std::size_t>(plan.counts[i]);
    const std::size_t end = row + (count + padding - 1) / padding * padding;
    std::fill(plan.sources.begin() + static_cast<std::ptrdiff_t>(row + count),
              plan.sources.begin() + static_cast<std::ptrdiff_t>(end), RowSource{});
    std::memset(plan.received_row(row + count), 0, (end - row - count) * plan.row_bytes);
    row = end;
  }
  plan.offsets[local] = static_cast<std::int64_t>(row);
  plan.total = row;
}

}  // namespace tutti::moe
