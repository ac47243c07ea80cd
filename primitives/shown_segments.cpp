// SPDX-License-Identifier: Apache-2.0
#include "primitives/shown_segments.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct Shown {
  std::uint64_t number = 0;
  std::weak_ptr<Segment> segment;
};

struct Registry {
  std::mutex mutex;
  std::vector<Shown> all;
  std::uint64_t last = 0;
};

/// Never destroyed: threads may outlive the program's statics.
Registry& registry() {
  static Registry* const made = new Registry;
  return *made;
}

}  // namespace

std::uint64_t show(const SegmentRef& segment) {
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  std::erase_if(known.all, [](const Shown& each) { return each.segment.expired(); });
  const auto same = std::ranges::find_if(
      known.all, [&](const Shown& each) { return each.segment.lock() == segment; });
  if (same != known.all.end()) return same->number;
  known.all.push_back({++known.last, segment});
  return known.last;
}

SegmentRef shown(std::uint64_t number) {
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  const auto found = std::ranges::find(known.all, number, &Shown::number);
  SegmentRef segment = found == known.all.end() ? nullptr : found->segment.lock();
  if (segment == nullptr) {
    throw Error(ErrorCode::PeerFailed, "a PE that is a thread of this process has let go of it");
  }
  return segment;
}

}  // namespace tutti::detail
