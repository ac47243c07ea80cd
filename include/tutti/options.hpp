// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

struct Algorithm;

/// What a program may decide when its PEs start. Must be equal on all PEs. An environment variable
/// (that of PE 0) beats a field here; a field left at its initial value means the default.
struct Options {
  /// Most bytes of symmetric memory a PE may own. `TUTTI_HEAP`; default: what the machine has free.
  std::size_t heap_bytes = 0;
  /// Longest wait for a peer. `TUTTI_TIMEOUT`; default: warn once a minute, never give up.
  std::chrono::milliseconds timeout{0};
  /// Whether collectives notice that the PEs' CPUs have moved, and choose again for the new line
  /// transfer, all PEs at the same call. Off: what was measured at start-up holds.
  /// `TUTTI_FOLLOW_REGIME` (0 or 1).
  bool follow_regime = true;
  /// Algorithms of the program's own: chosen, checked and explained like the built-in ones.
  std::vector<const Algorithm*> extra_algorithms = {};
  /// Test aid: no PE reaches another by load and store; messages are delayed and reordered in a
  /// seeded random order, as far as the memory model allows. Threads only.
  bool loopback = false;
  std::uint64_t loopback_seed = 1;
};

}  // namespace tutti
