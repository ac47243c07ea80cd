// SPDX-License-Identifier: Apache-2.0
#include "primitives/lane.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "primitives/arrival.hpp"
#include "primitives/fault.hpp"
#include "primitives/team_state.hpp"

namespace tutti::detail {
namespace {

/// 12 bits that are never 0, which means "refused". Counts that differ by little differ here.
std::uint64_t fingerprint(const CallRecord& record, const CallDetails& details) {
  std::uint64_t hash =
      (record.how ^ details.counts) +
      static_cast<std::uint64_t>(record.kind) * 0x9e3779b97f4a7c15u +
      record.count * 0xd6e8feb86659fd93u +
      static_cast<std::uint64_t>(static_cast<std::int64_t>(details.root)) * 0xa0761d6478bd642fu;
  hash ^= hash >> 32;
  hash *= 0xe7037ed1a0b428dbu;
  return 1 + (hash >> 40) % kFingerprintMask;
}

constexpr std::size_t slot_offset(int lane, std::uint64_t call) {
  return offsetof(TeamWords, lanes) + sizeof(LaneWords) * static_cast<std::size_t>(lane) +
         offsetof(LaneWords, slots) + sizeof(CallSlot) * (call % kDepth);
}

}  // namespace

void Lane::attach(TeamState& team, int index) {
  team_ = &team;
  index_ = index;
  pe_ = team.pe();
  pes_ = team.pes();
  all_direct_ = team.all_direct();
  barrier_ = team.world().barrier_of(pes_);
  seen_.assign(static_cast<std::size_t>(pes_), 0);
  seen_[static_cast<std::size_t>(pe_)] = ~std::uint64_t{0};
  checked_.assign(static_cast<std::size_t>(pes_), 0);
  for (int i = 0; i < pes_; ++i) {
    auto* words = reinterpret_cast<TeamWords*>(team.words().readable(i));
    words_.push_back(&words->lanes[static_cast<std::size_t>(index)]);
  }
}

WaitSite Lane::site(int on) const noexcept { return {team_, operation(), index_, on, timeout_}; }

CallSlot& Lane::own_slot() const noexcept {
  return words_[static_cast<std::size_t>(pe_)]->slots[call_ % kDepth];
}

std::uint64_t Lane::load(int pe, std::size_t slot, std::size_t offset) const noexcept {
  auto& words = *words_[static_cast<std::size_t>(pe)];
  return word_at(reinterpret_cast<std::byte*>(&words.slots[slot]) + offset)
      .load(std::memory_order_seq_cst);
}

// R1: my arrival of this call may overwrite a slot only when all members have left call - kDepth.
void Lane::catch_up(std::uint64_t target) {
  for (int i = 0; i < pes_; ++i) {
    auto& known = seen_[static_cast<std::size_t>(i)];
    if (known >= target) continue;
    team_->world().waiting().until(
        [&] { return call_of(load(i, target % kDepth, CallSlot::kArrival)) >= target; }, site(i));
    known = target;
  }
  all_arrived_ = std::max(all_arrived_, target);
}

void Lane::begin(const CallRecord& record, const CallDetails& details) {
  team_->check_usable();
  team_->world().note_thread();
  ++call_;
  kind_ = record.kind;
  posted_ = false;
  timeout_ = details.timeout;
  reservations_.clear();
  slot_offset_ = slot_offset(index_, call_);
  expected_ = call_ << kFingerprintBits | fingerprint(record, details);
  if (call_ > all_arrived_ + kDepth - 1) catch_up(call_ - kDepth / 2);
  CallRecord& shown = words_[static_cast<std::size_t>(pe_)]->records[call_ % kDepth];
  shown = record;
  shown.call = call_;
  shown.root = details.root;
  shown.how = record.how ^ details.counts;
  CallSlot& slot = own_slot();
  word_at(reinterpret_cast<std::byte*>(&slot.consumed)).store(0, std::memory_order_relaxed);
  delay_here("lane.begin");
}

void Lane::refuse(CallKind kind, const std::string& text) {
  CallRecord record;
  record.kind = kind;
  // Before the call, not in it: a peer that is ahead has refused it too, and who waits in a call
  // compares what he sees with what he is about to post.
  if (call_ + 1 > all_arrived_ + kDepth - 1) {
    team_->check_usable();
    catch_up(call_ + 1 - kDepth / 2);
  }
  begin(record);
  team_->world().set_trouble(ErrorCode::InvalidArgument, text, team_->member(pe_));
  expected_ = call_ << kFingerprintBits;
  publish(1);
  // Nobody awaits this call here; all that matters is that it was posted.
}

// The exchange publishes everything that this PE wrote before: staging, outputs, records.
void Lane::raise(std::size_t offset, std::uint64_t value) {
  word_at(reinterpret_cast<std::byte*>(&own_slot()) + offset)
      .exchange(value, std::memory_order_seq_cst);
  team_->world().ring(team_->members());
  if (all_direct_) [[likely]] {
    return;
  }
  for (int i = 0; i < pes_; ++i) team_->words().push_word(i, slot_offset_ + offset, value);
}

void Lane::post() {
  for (int i = 0; !all_direct_ && i < pes_; ++i) {
    team_->words().push(i, slot_offset_, CallSlot::kArrival);
    team_->words().push(i, slot_offset_ + offsetof(CallSlot, consumed), sizeof(std::uint64_t));
  }
  posted_ = true;
  posted_words_[call_ % kDepth] = expected_;
  raise(CallSlot::kArrival, expected_);
}

void Lane::publish(std::uint64_t step) {
  delay_here("lane.publish");
  if (posted_) {
    raise(CallSlot::kProgress, step);
    return;
  }
  word_at(own_slot().line.data() + CallSlot::kProgress).store(step, std::memory_order_relaxed);
  post();
}

void Lane::publish_line(const std::byte* payload, std::size_t bytes) {
  std::byte* line = own_slot().line.data();
  if (bytes > 0) std::memcpy(line, payload, bytes);
  delay_here("lane.publish_line");
  post();
}

void Lane::publish_first_step(const std::byte* payload, std::size_t bytes) {
  std::memcpy(own_slot().line.data(), payload, bytes);
  publish(1);
}

bool Lane::arrived(int pe) {
  const std::uint64_t word = load(pe, call_ % kDepth, CallSlot::kArrival);
  if (word == expected_) [[likely]] {
    std::uint64_t& checked = checked_[static_cast<std::size_t>(pe)];
    if (checked + 1 < call_) check_earlier(pe);
    checked = call_;
    seen_[static_cast<std::size_t>(pe)] = call_;
    return true;
  }
  if (call_of(word) >= call_) disagree(pe, call_, word);
  return false;
}

void Lane::await(int pe, std::uint64_t step) {
  if (pe == pe_) return;
  team_->world().waiting().until(
      [&] { return arrived(pe) && load(pe, call_ % kDepth, CallSlot::kProgress) >= step; },
      site(pe));
  delay_here("lane.awaited");
}

void Lane::await_all(std::uint64_t step) {
  for (int i = 0; i < pes_; ++i) await(i, step);
  all_arrived_ = call_;
}

const std::byte* Lane::await_line(int pe) {
  if (pe != pe_) {
    team_->world().waiting().until([&] { return arrived(pe); }, site(pe));
  }
  return words_[static_cast<std::size_t>(pe)]->slots[call_ % kDepth].line.data();
}

void Lane::consumed(std::uint64_t step) { raise(offsetof(CallSlot, consumed), step); }

void Lane::require_ring(std::size_t bytes) {
  for (const Ring& ring : rings_) {
    if (ring.bytes == bytes) return;
  }
  Ring made;
  made.bytes = bytes;
  made.block = Block::create(team_->shared_world(), team_->members(), pe_,
                             {.bytes = bytes, .mirrors = Block::Mirrors::Yes},
                             team_->agreement(index_), "staging ring");
  rings_.push_back(std::move(made));
}

Ring& Lane::ring(std::size_t bytes) {
  for (Ring& ring : rings_) {
    if (ring.bytes == bytes) return ring;
  }
  throw std::logic_error("Lane::ring: no such ring; require_ring comes first");
}

std::uint64_t Lane::reserve(Ring& ring, std::size_t bytes, std::uint64_t step) {
  if (ring.last_call != call_) {
    const std::uint64_t arrived = std::max(all_arrived_, std::ranges::min(seen_));
    if (arrived > ring.last_call) {
      ring.floor = ring.position;  // everyone has left the ring's last call
    } else if (arrived == ring.last_call) {
      ring.floor = ring.call_start;  // everyone is in it, or has left it
    }
    ring.last_call = call_;
    ring.call_start = ring.position;
  }
  const std::size_t rounded = (bytes + kLine - 1) / kLine * kLine;
  if (rounded > ring.bytes) throw std::logic_error("Lane::reserve: more than the ring holds");
  const std::size_t at = ring.offset(ring.position);
  if (at + rounded > ring.bytes) ring.position += ring.bytes - at;  // no range wraps around
  const std::uint64_t begin = ring.position;
  const std::uint64_t end = begin + rounded;
  if (end > ring.floor + ring.bytes) make_room(ring, end);
  ring.position = end;
  reservations_.push_back({end, step});
  return begin;
}

void Lane::make_room(Ring& ring, std::uint64_t end) {
  if (ring.floor < ring.call_start) {
    // Whoever has posted this call has left the earlier ones.
    if (!posted_) publish(0);
    for (int i = 0; i < pes_; ++i) await(i, 0);
    all_arrived_ = call_;
    ring.floor = ring.call_start;
  }
  if (end <= ring.floor + ring.bytes) return;
  const std::uint64_t needed = end - ring.bytes;
  const auto reservation =
      std::ranges::find_if(reservations_, [&](const Reservation& r) { return r.end >= needed; });
  if (reservation == reservations_.end()) {
    throw std::logic_error("Lane::reserve: a call waits for bytes that it did not publish");
  }
  for (int i = 0; i < pes_; ++i) {
    if (i == pe_) continue;
    await(i, 0);
    team_->world().waiting().until(
        [&] { return load(i, call_ % kDepth, offsetof(CallSlot, consumed)) >= reservation->step; },
        site(i));
  }
  ring.floor = reservation->end;
}

void Lane::exchange(const void* mine, std::size_t bytes, void* all,
                    std::chrono::milliseconds timeout) {
  if (bytes > kExchangeBytes) throw std::logic_error("Lane::exchange: too many bytes");
  CallRecord record;
  record.kind = CallKind::Agree;
  record.count = bytes;
  begin(record, {.timeout = timeout});
  std::memcpy(own_slot().exchange.data(), mine, bytes);
  for (int i = 0; !all_direct_ && i < pes_; ++i) {
    team_->words().push(i, slot_offset_ + offsetof(CallSlot, exchange), bytes);
  }
  publish(1);
  await_all(1);
  for (int i = 0; i < pes_; ++i) {
    const CallSlot& theirs = words_[static_cast<std::size_t>(i)]->slots[call_ % kDepth];
    std::memcpy(static_cast<std::byte*>(all) + bytes * static_cast<std::size_t>(i),
                theirs.exchange.data(), bytes);
  }
}

void Lane::barrier() {
  static constexpr CallRecord kRecord = {.kind = CallKind::Barrier};
  begin(kRecord);
  if (barrier_ != BarrierKind::Flat) [[unlikely]] {
    return barrier_in_steps();
  }
  publish(1);
  await_all(1);
}

}  // namespace tutti::detail
