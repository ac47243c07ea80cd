// SPDX-License-Identifier: Apache-2.0
#include "primitives/heap.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <vector>

namespace tutti::detail {
namespace {

constexpr std::size_t kFirstSegment = std::size_t{1} << 20;
constexpr std::size_t kLargestStep = std::size_t{64} << 20;

std::size_t rounded(std::size_t bytes) { return (bytes + Heap::kAlign - 1) & ~(Heap::kAlign - 1); }

}  // namespace

bool Heap::fits(std::size_t bytes, HeapRange& best) const {
  std::size_t best_bytes = 0;
  for (std::uint32_t s = 0; s < free_.size(); ++s) {
    for (const auto& [offset, free_bytes] : free_[s]) {
      if (free_bytes < bytes || (best_bytes != 0 && free_bytes >= best_bytes)) continue;
      best_bytes = free_bytes;
      best = {.segment = s, .offset = offset, .bytes = bytes};
    }
  }
  return best_bytes != 0;
}

std::size_t Heap::growth_for(std::size_t bytes) {
  sweep();
  HeapRange unused;
  if (fits(rounded(bytes), unused)) return 0;
  // A few large segments: each one doubles the heap until steps are large.
  const std::size_t step = std::clamp(std::bit_ceil(owned_), kFirstSegment, kLargestStep);
  const std::size_t left = cap_ > owned_ ? (cap_ - owned_) / kAlign * kAlign : 0;
  return std::max(rounded(bytes), std::min(step, left));
}

HeapRange Heap::take(std::size_t bytes, std::size_t lead, std::size_t members, BlockId id) {
  HeapRange range;
  // Asking sweeps: what did not fit before may fit after.
  const std::size_t growth = growth_for(bytes);
  if (growth == 0) {
    fits(rounded(bytes), range);
  } else {
    segments_.push_back(std::make_shared<Segment>(Segment::create(growth, for_processes_)));
    free_.push_back({{0, growth}});
    owned_ += growth;
    range = {.segment = static_cast<std::uint32_t>(segments_.size() - 1), .bytes = rounded(bytes)};
  }
  FreeRanges& ranges = free_[range.segment];
  const auto found = ranges.find(range.offset);
  const std::size_t left = found->second - range.bytes;
  ranges.erase(found);
  if (left > 0) ranges.emplace(range.offset + range.bytes, left);
  used_ += range.bytes;
  range.lead = lead;
  live_.emplace(id, Live{range, members});
  std::memset(data(range), 0, range.bytes);
  new (data(range)) BlockHeader;
  return range;
}

void Heap::untake(const HeapRange& range) {
  std::erase_if(live_, [&](const auto& entry) {
    return entry.second.range.segment == range.segment && entry.second.range.offset == range.offset;
  });
  release(range);
}

void Heap::release(const HeapRange& range) {
  used_ -= range.bytes;
  FreeRanges& ranges = free_[range.segment];
  auto at = ranges.emplace(range.offset, range.bytes).first;
  if (const auto next = std::next(at);
      next != ranges.end() && at->first + at->second == next->first) {
    at->second += next->second;
    ranges.erase(next);
  }
  if (at == ranges.begin()) return;
  if (const auto before = std::prev(at); before->first + before->second == at->first) {
    before->second += at->second;
    ranges.erase(at);
  }
}

void Heap::sweep() {
  for (auto it = live_.begin(); it != live_.end();) {
    const auto* header = reinterpret_cast<const BlockHeader*>(data(it->second.range));
    // Acquire: the members' last accesses to the range happened before they let go.
    if (header->dropped.load(std::memory_order_acquire) < it->second.members) {
      ++it;
      continue;
    }
    release(it->second.range);
    it = live_.erase(it);
  }
}

std::byte* Heap::data(const HeapRange& range) const {
  return segments_[range.segment]->data() + range.offset;
}

std::size_t Heap::largest_free() const noexcept {
  std::size_t largest = 0;
  for (const FreeRanges& ranges : free_) {
    for (const auto& [offset, bytes] : ranges) largest = std::max(largest, bytes);
  }
  return largest;
}

std::byte* Heap::find_header(BlockId id) const {
  const auto it = live_.find(id);
  return it == live_.end() ? nullptr : data(it->second.range);
}

std::byte* Heap::find(BlockId id, std::size_t offset, std::size_t bytes) const {
  const auto it = live_.find(id);
  if (it == live_.end()) return nullptr;
  const std::size_t room = it->second.range.bytes - it->second.range.lead;
  if (offset > room || bytes > room - offset) return nullptr;
  return data(it->second.range) + it->second.range.lead + offset;
}

}  // namespace tutti::detail
