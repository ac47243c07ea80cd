// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// What libtutti_mpi gives to `launch`, which loads it by name: plain functions, no MPI types.
extern "C" {

struct TuttiMpiJob {
  int pe;
  int pes;
  void (*allgather)(const void* mine, std::size_t bytes, void* all);
  /// Ends MPI after a job without errors. After an error a process ends without it.
  void (*finish)();
};

using TuttiMpiStart = TuttiMpiJob (*)(int* argc, char*** argv);
inline constexpr const char* kTuttiMpiStart = "tutti_mpi_start";
}
