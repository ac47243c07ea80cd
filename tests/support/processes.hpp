// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "tutti/team.hpp"

namespace tutti::tests {

/// How one PE of `run_processes` ended.
struct Ending {
  int status = 0;      ///< as `waitpid` gives it
  std::string error;   ///< text of the exception that left the body, or empty
  double seconds = 0;  ///< from the fault (see `FaultClock`) to the exception
};

/// Told to the body of each PE: `fault_now` marks the moment from which endings are timed.
class FaultClock {
 public:
  virtual ~FaultClock() = default;
  virtual void fault_now() = 0;
};

/// What a process does with a bootstrap of the test's own, before there is a team.
using BareBody = std::function<void(int pe, const Allgather&)>;

/// Runs `body` on `pes` forked processes; as `run_processes`, but without a team.
std::vector<Ending> run_bare_processes(int pes, const BareBody& body, double limit_seconds = 20);

using ProcessBody = std::function<void(Team&, FaultClock&)>;

/// Runs `body` on `pes` forked processes whose teams come from `from_bootstrap`, with an allgather
/// of the test's own: no launcher, no MPI. Whoever is still there after `limit_seconds`, stopped or
/// not, is killed by its own id. Call it before the test has made threads.
std::vector<Ending> run_processes(int pes, const ProcessBody& body, const Options& options = {},
                                  double limit_seconds = 20);

}  // namespace tutti::tests
