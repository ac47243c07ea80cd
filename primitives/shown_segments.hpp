// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/heap.hpp"

namespace tutti::detail {

// Threads of one process show each other memory by numbers and not by addresses: a number may
// outlive what it stands for, where its PE has failed and another one is about to map it.

/// The number under which the other threads find it while somebody holds it; never 0.
std::uint64_t show(const SegmentRef& segment);
/// Throws `Error` (PeerFailed) where nobody holds it any more.
SegmentRef shown(std::uint64_t number);

}  // namespace tutti::detail
