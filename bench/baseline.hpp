// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bench/engine.hpp"

namespace tutti::bench {

/// The installed MPI's own collective on the same buffers, in the same process. Empty for PEs that
/// are threads, for a build without MPI, and for types that MPI does not reduce (f16, bf16).
std::optional<Contender> mpi_baseline(const Team& team, const Workload& work);

/// Whether MPI was started in this process, and its barrier (nothing otherwise).
bool mpi_runs();
void mpi_barrier();

/// MPI's name and version as it tells them, and the forced components of the environment; empty
/// where there is no baseline.
std::string mpi_description();

}  // namespace tutti::bench
