// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/tune/contain.hpp"
#include "bench/workload.hpp"

namespace tutti::bench {

/// The child's side of a trial: runs each candidate a few times on PEs that are threads, checks
/// every element, and writes what `read_trials` reads. Returns the exit status.
int run_trials(const Cell& cell, int pes, const std::vector<std::string>& choices,
               const std::vector<const Algorithm*>& extra_algorithms = {});

/// The arguments of `tutti-tune try` for these.
std::vector<std::string> trial_arguments(const Cell& cell, int pes,
                                         const std::vector<std::string>& choices);

/// Tries candidates in child processes, one after the other: one that crashes or hangs ends only
/// its child, which is killed when it has told nothing for as long as `silence`, in a wait or in a
/// loop of its own. A child is this program with `trial_arguments`.
/// Collective: PE 0 does it, all get the result (the reasons are PE 0's alone).
std::vector<Trial> try_candidates(Team& team, const Cell& cell,
                                  const std::vector<std::string>& choices,
                                  std::chrono::milliseconds silence);

}  // namespace tutti::bench
