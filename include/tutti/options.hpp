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
  /// Threads of one PE, itself included, that share a collective's copying and folding: 1 to 64.
  /// `TUTTI_WORKERS`. They start at the first piece of work that is large enough, run on the CPUs
  /// that the PE may use, and sleep while there is nothing to do. The bits of a result do not
  /// depend on their number. Errors: `InvalidArgument` at the start for other numbers.
  int workers = 1;
  /// Algorithms of the program's own: chosen, checked and explained like the built-in ones.
  std::vector<const Algorithm*> extra_algorithms = {};
  /// Test aid: no PE reaches another by load and store; messages are delayed and reordered in a
  /// seeded random order, as far as the memory model allows. Threads only.
  bool loopback = false;
  std::uint64_t loopback_seed = 1;
};

}  // namespace tutti
