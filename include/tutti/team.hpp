// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/options.hpp"

namespace tutti {

namespace detail {
class TeamState;
}

/// An ordered set of PEs with its own words and call numbers.
///
/// A `Team` is a counted handle: copies are the same team, and tensors keep it alive. The
/// destructor is local and never waits. Not thread-safe: one thread of a PE at a time, except on
/// different lanes.
class TUTTI_API Team {
 public:
  /// My number in this team, 0 <= pe() < size().
  int pe() const noexcept;
  int size() const noexcept;
  /// The node that I am on, and how many nodes the team spans.
  int node() const noexcept;
  int nodes() const noexcept;
  const std::string& name() const noexcept;
  /// Threads that share this PE's copying and folding, itself included (`Options::workers`).
  int workers() const noexcept;
  /// Whether all PEs are threads of this process that reach each other by load and store: then they
  /// reach each other's private memory as well. Equal on all PEs.
  bool shared_address_space() const noexcept;

  /// Collective over this team: makes one team of all PEs that give the same `color` (>= 0),
  /// ordered by `key`, then by PE here. Blocks until all have called.
  /// Errors: `InvalidArgument` for a negative color; agreed `OutOfMemory`.
  Team split(int color, int key = 0);

  /// Makes a team of the PEs `pes` of this one, in that order; only they call it, whatever the
  /// others do meanwhile, other subteams included. `name`: 1 to 127 characters. Name and list are
  /// equal on all that call; the same group may be made again and again. Blocks until all of them
  /// have called. Errors, on this PE: `InvalidArgument` for a name or a list that is not allowed;
  /// agreed `OutOfMemory`; `Timeout` or `Mismatch` if the others do not come, which ends this team
  /// too.
  Team subteam(std::string_view name, std::span<const int> pes);
  Team subteam(std::string_view name, std::initializer_list<int> pes) {
    return subteam(name, std::span<const int>(pes.begin(), pes.size()));
  }

  /// Blocks until every PE of the team has called it. What a PE put or stored before its call is
  /// visible to all after it.
  void barrier();
  /// How it goes about that, the same on all PEs: "flat", "dissemination" or "tree". Chosen by the
  /// team's size, or by `barrier=...` in `TUTTI_ALGORITHM`; see docs/algorithms.md.
  std::string_view barrier_algorithm() const noexcept;

  /// Collective, about 0.1 ms: the time that a word takes from one PE's cache to another's, in ns,
  /// now: the median of ping-pongs between PE 0 and each other, the largest of them. 0 where it
  /// cannot be measured: one PE, PEs that outnumber the CPUs or are not reached by load and store.
  double measure_line_ns();

  explicit Team(std::shared_ptr<detail::TeamState> state) noexcept;
  detail::TeamState& state() const noexcept { return *state_; }
  const std::shared_ptr<detail::TeamState>& shared_state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::TeamState> state_;
};

/// Gathers `bytes` from every PE into `all` ([pes * bytes], in PE order); blocking, collective.
using Allgather = std::function<void(const void* mine, std::size_t bytes, void* all)>;

/// Runs `body` once for each PE and returns the exit code of the program. Under `mpirun` each
/// process is a PE (`libtutti_mpi` is loaded); otherwise PEs are threads of this process, as many
/// as `TUTTI_PES` says (default: as many as the usable CPUs, by affinity and cgroup quota, have
/// room for with the workers of each). An exception in
/// one PE's body ends the job: it is printed with the PE's number, the others leave their waits
/// with `PeerFailed`, and the exit code is 2 for `InvalidArgument` and `Tuning`, else 1.
TUTTI_API int launch(int argc, char** argv, const std::function<void(Team&)>& body,
                     const Options& options = {});

/// Runs `body` on `pes` threads of this process and rethrows the first PE's exception, if any.
TUTTI_API void run(int pes, const std::function<void(Team&)>& body, const Options& options = {});

/// The teams of `pes` PEs of this process, for a program that has its own threads: entry i belongs
/// to the thread that is PE i.
TUTTI_API std::vector<Team> thread_teams(int pes, const Options& options = {});

/// Collective over all PEs of a launcher of any kind: the first team, made with the caller's own
/// allgather, which is not used after the return.
/// Errors: `InvalidArgument` if 0 <= pe < pes does not hold; agreed `Unsupported` if some PEs
/// cannot reach each other's memory; agreed `OutOfMemory`.
TUTTI_API Team from_bootstrap(int pe, int pes, const Allgather& allgather,
                              const Options& options = {});

/// CPUs that this process may use: its affinity mask, cut by the quota of its cgroups.
TUTTI_API int usable_cpus();

}  // namespace tutti
