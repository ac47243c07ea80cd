// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "primitives/launch_abi.hpp"
#include "tutti/error.hpp"
#include "tutti/mpi.hpp"

namespace tutti {
namespace {

void gather_bytes(const void* mine, std::size_t bytes, void* all, MPI_Comm comm) {
  if (bytes > INT_MAX) throw Error(ErrorCode::Unsupported, "bootstrap message above 2 GiB");
  const auto count = static_cast<int>(bytes);
  const int status = MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm);
  if (status != MPI_SUCCESS) {
    throw Error(ErrorCode::System, "MPI_Allgather failed with " + std::to_string(status));
  }
}

void gather_in_world(const void* mine, std::size_t bytes, void* all) {
  gather_bytes(mine, bytes, all, MPI_COMM_WORLD);
}

bool started_by_us = false;

void finish_mpi() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (started_by_us && finalized == 0) MPI_Finalize();
}

}  // namespace

Team detail::from_mpi_handle(const void* handle, std::size_t bytes, const Options& options) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (bytes != sizeof comm) {
    throw Error(ErrorCode::InvalidArgument, "from_mpi: the argument is not an MPI_Comm");
  }
  std::memcpy(&comm, handle, sizeof comm);
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    throw Error(ErrorCode::InvalidArgument, "from_mpi: MPI_Init has not been called");
  }
  int pe = 0;
  int pes = 0;
  MPI_Comm_rank(comm, &pe);
  MPI_Comm_size(comm, &pes);
  return from_bootstrap(
      pe, pes,
      [comm](const void* mine, std::size_t length, void* all) {
        gather_bytes(mine, length, all, comm);
      },
      options);
}

}  // namespace tutti

extern "C" TUTTI_API TuttiMpiJob tutti_mpi_start(int* argc, char*** argv) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    int provided = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    tutti::started_by_us = true;
  }
  TuttiMpiJob job{};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.pe);
  MPI_Comm_size(MPI_COMM_WORLD, &job.pes);
  job.allgather = tutti::gather_in_world;
  job.finish = tutti::finish_mpi;
  return job;
}
