// SPDX-License-Identifier: Apache-2.0
// What a lane says when a call cannot go on: read only when a wait takes long or calls disagree.
#include <fmt/format.h>

#include <algorithm>

#include "primitives/arrival.hpp"
#include "primitives/lane.hpp"
#include "primitives/team_state.hpp"

namespace tutti::detail {
namespace {

std::string text_of(const CallRecord& record) {
  std::string text = fmt::format("{} {}", name_of(record.kind), record.detail.data());
  if (record.count != 0) text += fmt::format(" count {}", record.count);
  if (record.root >= 0) {
    text +=
        fmt::format(" {} {}", record.kind == CallKind::RingShift ? "shift" : "root", record.root);
  }
  return text;
}

}  // namespace

const char* name_of(CallKind kind) noexcept {
  switch (kind) {
    case CallKind::Barrier:
      return "barrier";
    case CallKind::Agree:
      return "agreement";
    case CallKind::Allreduce:
      return "allreduce";
    case CallKind::Allgather:
      return "allgather";
    case CallKind::ReduceScatter:
      return "reduce_scatter";
    case CallKind::Broadcast:
      return "broadcast";
    case CallKind::Reduce:
      return "reduce";
    case CallKind::Gather:
      return "gather";
    case CallKind::Scatter:
      return "scatter";
    case CallKind::Alltoall:
      return "alltoall";
    case CallKind::Allgatherv:
      return "allgatherv";
    case CallKind::ReduceScatterv:
      return "reduce_scatterv";
    case CallKind::Alltoallv:
      return "alltoallv";
    case CallKind::Gatherv:
      return "gatherv";
    case CallKind::Scatterv:
      return "scatterv";
    case CallKind::RingShift:
      return "ring_shift";
    case CallKind::MoeDispatch:
      return "moe dispatch";
    case CallKind::MoeCombine:
      return "moe combine";
    case CallKind::None:
      break;
  }
  return "no call";
}

std::uint64_t Lane::last_arrival(int pe) const noexcept {
  std::uint64_t last = 0;
  for (std::size_t slot = 0; slot < kDepth; ++slot) {
    last = std::max(last, load(pe, slot, CallSlot::kArrival));
  }
  return last;
}

std::string Lane::missing() const {
  std::string text;
  for (int i = 0; i < pes_; ++i) {
    const std::uint64_t last = last_arrival(i);
    if (i == pe_ || call_of(last) >= call_) continue;
    // Its record cannot be overwritten while I am in this call: that takes kDepth more calls.
    const CallRecord& record = words_[static_cast<std::size_t>(i)]->records[call_of(last) % kDepth];
    text += text.empty() ? "" : ", ";
    if (last == 0) {
      text += fmt::format("PE {} (has made no call)", i);
    } else if (all_direct_) {
      text += fmt::format("PE {} (last in call {}: {})", i, call_of(last), text_of(record));
    } else {
      text += fmt::format("PE {} (last in call {})", i, call_of(last));
    }
  }
  return text;
}

void Lane::check_arrivals() {
  for (int i = 0; i < pes_; ++i) {
    if (i == pe_) continue;
    const std::uint64_t word = load(i, call_ % kDepth, CallSlot::kArrival);
    if (call_of(word) >= call_ && word != expected_) disagree(i, call_, word);
  }
}

void Lane::disagree(int pe, std::uint64_t call, std::uint64_t theirs) {
  const CallRecord& mine = words_[static_cast<std::size_t>(pe_)]->records[call % kDepth];
  const int world_pe = team_->member(pe);
  std::string text;
  ErrorCode code = ErrorCode::Mismatch;
  if (is_refusal(theirs)) {
    code = ErrorCode::PeerFailed;
    text =
        fmt::format("{}, call {} on team {}: PE {} refused its arguments: {}", name_of(mine.kind),
                    call, team_->name(), pe, team_->world().peer(world_pe).control->trouble.text());
  } else {
    text =
        fmt::format("call {} on team {}: PE {} calls {}", call, team_->name(), pe_, text_of(mine));
    if (all_direct_) {
      const CallRecord& record = words_[static_cast<std::size_t>(pe)]->records[call % kDepth];
      text += fmt::format(", but PE {} calls {}", pe, text_of(record));
    } else {
      text += fmt::format(", but PE {} makes another call", pe);
    }
  }
  team_->poison(code, text, world_pe);
  throw Error(code, text);
}

// In a broadcast not everyone awaits everyone; two PEs that each took itself for the root would
// not notice. Who posted this call has posted the earlier ones, and their slots still show them.
void Lane::check_earlier(int pe) {
  const std::uint64_t last = checked_[static_cast<std::size_t>(pe)];
  for (std::uint64_t d = call_ > kDepth - 2 ? call_ - (kDepth - 2) : 1; d < call_; ++d) {
    const std::uint64_t word = load(pe, d % kDepth, CallSlot::kArrival);
    if (d > last && call_of(word) == d && word != posted_words_[d % kDepth]) disagree(pe, d, word);
  }
}

}  // namespace tutti::detail
