// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "primitives/control.hpp"
#include "primitives/segment.hpp"
#include "primitives/transport.hpp"

namespace tutti::detail {

using SegmentRef = std::shared_ptr<Segment>;

/// Stands in front of each instance of a block. Every member adds one to it when it lets go, so its
/// owner learns without a message when the range may be used again.
struct alignas(kLine) BlockHeader {
  Word dropped{0};
};

/// A range of this PE's heap: the header, the instance `lead` bytes after it.
struct HeapRange {
  std::uint32_t segment = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t lead = sizeof(BlockHeader);
};

/// One PE's symmetric memory: segments, their free ranges, and the ranges that are in use until all
/// members have dropped them. Not thread-safe; the world's mutex guards it.
class Heap {
 public:
  static constexpr std::size_t kAlign = 4096;

  explicit Heap(bool for_processes) : for_processes_(for_processes) {}

  /// The most bytes that the heap may own; it grows in smaller steps rather than beyond.
  void set_cap(std::size_t bytes) noexcept { cap_ = bytes; }
  std::size_t cap() const noexcept { return cap_; }
  /// Bytes that the heap would have to grow by for this request; 0 if a free range serves it. May
  /// lead beyond the cap: whoever asks has to check.
  std::size_t growth_for(std::size_t bytes);
  /// Takes a range, zeroed; grows if needed. `bytes` with the lead. Throws `Error` (OutOfMemory).
  HeapRange take(std::size_t bytes, std::size_t lead, std::size_t members, BlockId id);
  /// Gives a range back that no peer has seen.
  void untake(const HeapRange& range);

  std::byte* data(const HeapRange& range) const;
  const SegmentRef& segment(std::uint32_t index) const { return segments_[index]; }
  std::size_t owned_bytes() const noexcept { return owned_; }
  std::size_t used_bytes() const noexcept { return used_; }
  std::size_t largest_free() const noexcept;

  /// The instance of a block (behind its header), or nullptr; for transports.
  std::byte* find(BlockId id, std::size_t offset, std::size_t bytes) const;
  /// Its header: a block's word that members add to when they let go.
  std::byte* find_header(BlockId id) const;

 private:
  struct Live {
    HeapRange range;
    std::size_t members;
  };
  using FreeRanges = std::map<std::size_t, std::size_t>;  // offset -> bytes

  void sweep();
  void release(const HeapRange& range);
  bool fits(std::size_t bytes, HeapRange& best) const;

  bool for_processes_;
  std::deque<SegmentRef>
      segments_;  ///< stays in place: threads of other PEs read it through its address
  std::vector<FreeRanges> free_;
  std::map<BlockId, Live> live_;
  std::size_t cap_ = std::numeric_limits<std::size_t>::max();
  std::size_t owned_ = 0;
  std::size_t used_ = 0;
};

}  // namespace tutti::detail
