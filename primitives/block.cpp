// SPDX-License-Identifier: Apache-2.0
#include "primitives/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "primitives/cpu.hpp"
#include "primitives/fault.hpp"
#include "primitives/shown_segments.hpp"
#include "primitives/text.hpp"
#include "primitives/world.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// First round: what each PE needs and has, so that all of them can tell whether it fits.
struct Need {
  std::size_t instance = 0;  ///< bytes; the same on all, or they make different calls
  BlockId proposal = 0;
  std::size_t growth = 0;
  std::size_t owned = 0;
  std::size_t free = 0;
  std::size_t largest_free = 0;
  std::size_t room = 0;
  std::size_t cap = 0;
  std::array<char, 128> limit{};
};

/// Second round: where each PE's instance is.
struct Grant {
  bool made = false;
  HeapRange range;
  int fd = -1;
  std::size_t segment_bytes = 0;
  std::uint64_t shown_as = 0;  ///< to threads of this process
  std::array<char, 160> reason{};
};

struct Outcome {
  bool good = true;
  std::array<char, 160> reason{};
};

template <std::size_t N>
void set_text(std::array<char, N>& to, std::string_view text) {
  text.copy(to.data(), N - 1);
}

template <class T>
std::vector<T> gather(const Agreement& agreement, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kAgreementBytes);
  std::vector<T> all(static_cast<std::size_t>(agreement.participants));
  agreement.gather(&mine, sizeof mine, all.data());
  return all;
}

Need need_of(World& world, std::size_t instance, std::size_t bytes) {
  const std::scoped_lock lock(world.mutex());
  const MemoryRoom room = memory_room();
  Need need;
  need.proposal = world.new_id();
  need.instance = instance;
  need.growth = world.heap().growth_for(bytes);
  need.owned = world.heap().owned_bytes();
  need.free = need.owned - world.heap().used_bytes();
  need.largest_free = world.heap().largest_free();
  need.room = room.bytes;
  need.cap = world.heap().cap();
  set_text(need.limit, room.limit);
  return need;
}

/// Why it does not fit, if so. Every PE sees the same needs and finds the same.
std::optional<std::string> shortage(const std::vector<Need>& needs, std::size_t bytes,
                                    const char* purpose) {
  std::size_t together = 0;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const Need& need = needs[i];
    together += need.growth;
    if (need.growth == 0 || need.owned + need.growth <= need.cap) continue;
    return fmt::format(
        "{}: PE {} wants {}; of its {}, {} are free, the largest range {}, and at "
        "most {} are allowed; raise TUTTI_HEAP or Options::heap_bytes",
        purpose, i, size_text(bytes), size_text(need.owned), size_text(need.free),
        size_text(need.largest_free), size_text(need.cap));
  }
  const auto tightest = std::min_element(
      needs.begin(), needs.end(), [](const Need& a, const Need& b) { return a.room < b.room; });
  if (together == 0 || together <= tightest->room) return std::nullopt;
  return fmt::format(
      "{}: the PEs want {} more together ({} each), but {} leaves {}; make "
      "smaller tensors or raise that limit",
      purpose, size_text(together), size_text(bytes), tightest->limit.data(),
      size_text(tightest->room));
}

/// Collective: the needs, if they fit. By the second look everybody has come here, and what they
/// let go of before that is free.
std::vector<Need> agreed_needs(World& world, const Agreement& agreement, std::size_t instance,
                               std::size_t bytes, const char* purpose) {
  std::vector<Need> needs = gather(agreement, need_of(world, instance, bytes));
  for (std::size_t i = 1; i < needs.size(); ++i) {
    if (needs[i].instance == needs[0].instance) continue;
    throw Error(ErrorCode::Mismatch,
                fmt::format("{}: PE 0 wants {} bytes and PE {} wants {}: their calls differ",
                            purpose, needs[0].instance, i, needs[i].instance));
  }
  if (!shortage(needs, bytes, purpose)) return needs;
  needs = gather(agreement, need_of(world, instance, bytes));
  if (const auto text = shortage(needs, bytes, purpose)) {
    throw Error(ErrorCode::OutOfMemory, *text);
  }
  return needs;
}

Grant take(World& world, std::size_t bytes, std::size_t lead, std::size_t members, BlockId id) {
  Grant mine;
  const std::scoped_lock lock(world.mutex());
  try {
    mine.range = world.heap().take(bytes, lead, members, id);
    const SegmentRef& segment = world.heap().segment(mine.range.segment);
    mine.fd = segment->fd();
    mine.segment_bytes = segment->bytes();
    mine.shown_as = show(segment);
    mine.made = true;
  } catch (const Error& error) {
    set_text(mine.reason, error.what());
  }
  return mine;
}

}  // namespace

std::shared_ptr<Block> Block::create(const std::shared_ptr<World>& world,
                                     const std::vector<int>& members, int me, const Layout& layout,
                                     const Agreement& agreement, const char* purpose) {
  std::shared_ptr<Block> block(new Block);
  block->members_ = members;
  block->me_ = static_cast<std::size_t>(me);
  block->bytes_ = layout.bytes;
  block->lead_ = std::max(sizeof(BlockHeader), layout.alignment);
  for (const int member : members) {
    block->all_direct_ = block->all_direct_ && world->peer(member).direct;
  }
  block->mirrors_ = layout.mirrors == Mirrors::Yes && !block->all_direct_;
  const std::size_t instances = block->mirrors_ ? members.size() + 1 : 1;
  const std::size_t wanted = block->lead_ + layout.bytes * instances;

  const std::vector<Need> needs = agreed_needs(*world, agreement, layout.bytes, wanted, purpose);
  const BlockId id = needs[static_cast<std::size_t>(agreement.who[0])].proposal;

  const Grant mine = take(*world, wanted, block->lead_, members.size(), id);
  const std::vector<Grant> grants = gather(agreement, mine);
  const auto refused =
      std::find_if(grants.begin(), grants.end(), [](const Grant& each) { return !each.made; });
  delay_here("block.attach");

  Outcome outcome;
  if (refused != grants.end()) {
    outcome.good = false;
    set_text(outcome.reason, refused->reason.data());
  } else {
    try {
      const std::scoped_lock lock(world->mutex());
      for (std::size_t i = 0; i < members.size(); ++i) {
        const Grant& theirs = grants[static_cast<std::size_t>(agreement.who[i])];
        world->map_peer_segment(members[i], theirs.range.segment, theirs.fd, theirs.segment_bytes,
                                theirs.shown_as);
        std::byte* instance = world->peer(members[i]).heap[theirs.range.segment]->data() +
                              theirs.range.offset + theirs.range.lead;
        const bool direct = world->peer(members[i]).direct;
        block->direct_.push_back(direct ? instance : nullptr);
      }
    } catch (const Error& error) {
      outcome.good = false;
      set_text(outcome.reason, error.what());
    }
  }
  const std::vector<Outcome> outcomes = gather(agreement, outcome);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].good) continue;
    if (mine.made) {
      const std::scoped_lock lock(world->mutex());
      world->heap().untake(mine.range);
    }
    throw Error(ErrorCode::OutOfMemory,
                fmt::format("{}: PE {}: {}", purpose, i, outcomes[i].reason.data()));
  }
  block->world_ = world;  // from here on there is something to let go of
  block->id_ = id;
  block->readable_ = block->direct_;
  for (std::size_t i = 0; block->mirrors_ && i < members.size(); ++i) {
    if (block->readable_[i] == nullptr) {
      block->readable_[i] = block->direct_[block->me_] + layout.bytes * (i + 1);
    }
  }
  return block;
}

Block::~Block() {
  // A forked child has copies of the handles, but the memory is its parent's.
  if (world_ == nullptr || world_->forked()) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (direct_[i] != nullptr) {
      auto* header = reinterpret_cast<BlockHeader*>(direct_[i] - lead_);
      header->dropped.fetch_add(1, std::memory_order_acq_rel);
      continue;
    }
    // Behind everything that I sent there: the range is free only once it has all arrived.
    const RemoteAddress header{members_[i], id_, std::numeric_limits<std::size_t>::max()};
    world_->transport()->word(header, 1, WordOp::Add);
  }
}

RemoteAddress Block::remote(int pe, std::size_t offset) const noexcept {
  return {members_[static_cast<std::size_t>(pe)], id_, offset};
}

RemoteAddress Block::mirror_at(int pe, std::size_t offset) const noexcept {
  return remote(pe, bytes_ * (me_ + 1) + offset);
}

void Block::push(int pe, std::size_t offset, std::size_t bytes) const {
  if (direct(pe) != nullptr || bytes == 0) return;
  world_->transport()->put(mirror_at(pe, offset), local() + offset, bytes);
}

void Block::push_word(int pe, std::size_t offset, std::uint64_t value) const {
  if (direct(pe) != nullptr) return;
  world_->transport()->word(mirror_at(pe, offset), value, WordOp::Set);
}

}  // namespace tutti::detail
