// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/export.hpp"

namespace tutti {

/// What a PE of a running job does, seen from outside.
struct PeStatus {
  std::uint64_t job = 0;  ///< a number that no other job has
  int pe = 0;
  int pes = 0;
  int pid = 0;
  std::string process;         ///< "running", "sleeping", "stopped", "gone", ... as the system says
  std::string state;           ///< "running", "finished", or "failed: ..."
  bool waiting = false;        ///< for more than about 50 ms, or for an event that it sleeps for
  double waiting_seconds = 0;  ///< since when
  std::string waits_for;       ///< call, team, who has not arrived and what they did last
};

/// The PEs of every job that process `pid` of this machine has a part in, by job and PE: PEs in
/// that process (threads) and in others. Reads, and disturbs nobody; works for a job that hangs.
/// Errors: `InvalidArgument` if there is no such process; `System` if this user may not look at it.
TUTTI_API std::vector<PeStatus> job_status(int pid);

}  // namespace tutti
