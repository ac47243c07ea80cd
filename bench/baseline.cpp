// SPDX-License-Identifier: Apache-2.0
#include "bench/baseline.hpp"

#ifdef TUTTI_HAVE_MPI

#include <mpi.h>

#include <climits>
#include <cstdlib>

namespace tutti::bench {
namespace {

bool running_with(const Team& team) {
  if (!mpi_runs()) return false;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size == team.size() && size > 1;
}

MPI_Datatype datatype_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return MPI_FLOAT;
    case DType::F64:
      return MPI_DOUBLE;
    case DType::I8:
      return MPI_INT8_T;
    case DType::U8:
      return MPI_UINT8_T;
    case DType::I16:
      return MPI_INT16_T;
    case DType::U16:
      return MPI_UINT16_T;
    case DType::I32:
      return MPI_INT32_T;
    case DType::U32:
      return MPI_UINT32_T;
    case DType::I64:
      return MPI_INT64_T;
    case DType::U64:
      return MPI_UINT64_T;
    case DType::F16:
    case DType::BF16:
    case DType::User:
      break;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op op_of(Op op) {
  switch (op) {
    case Op::Sum:
      return MPI_SUM;
    case Op::Prod:
      return MPI_PROD;
    case Op::Min:
      return MPI_MIN;
    case Op::Max:
      return MPI_MAX;
    case Op::And:
      return MPI_BAND;
    case Op::Or:
      return MPI_BOR;
    case Op::Xor:
      return MPI_BXOR;
    case Op::Avg:
    case Op::User:
      break;
  }
  return MPI_OP_NULL;
}

}  // namespace

std::optional<Contender> mpi_baseline(const Team& team, const Workload& work) {
  const Cell& cell = work.cell();
  const bool reduces = tutti::reduces(cell.collective);
  MPI_Datatype type = datatype_of(cell.dtype);
  const MPI_Op op = reduces ? op_of(cell.op) : MPI_OP_NULL;
  if (!running_with(team) || work.count() > INT_MAX || (reduces && op == MPI_OP_NULL)) {
    return std::nullopt;
  }
  if (type == MPI_DATATYPE_NULL) {
    if (reduces) return std::nullopt;
    type = MPI_UINT16_T;  // 16 bits travel as they are
  }
  const auto count = static_cast<int>(work.count());
  const bool is_root = team.pe() == kRoot;
  const int next = (team.pe() + 1) % team.size();
  const int before = (team.pe() + team.size() - 1) % team.size();
  const auto run = [=](const Workload& w, const Workload::Buffers& at) {
    const bool in_place = w.cell().placement == Placement::InPlace;
    const void* in = in_place ? MPI_IN_PLACE : static_cast<const void*>(at.in);
    switch (w.cell().collective) {
      case Collective::Allreduce:
        MPI_Allreduce(in, at.out, count, type, op, MPI_COMM_WORLD);
        break;
      case Collective::Allgather:
        MPI_Allgather(in, count, type, at.out, count, type, MPI_COMM_WORLD);
        break;
      case Collective::ReduceScatter:
        // MPI's in place takes the input from the output buffer's start; out of place is fairer.
        MPI_Reduce_scatter_block(at.in, at.out, count, type, op, MPI_COMM_WORLD);
        break;
      case Collective::Broadcast:
        MPI_Bcast(at.out, count, type, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Reduce:
        MPI_Reduce(is_root ? in : at.in, at.out, count, type, op, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Gather:
        MPI_Gather(is_root ? in : at.in, count, type, at.out, count, type, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Scatter:
        MPI_Scatter(at.in, count, type, in_place && is_root ? MPI_IN_PLACE : at.out, count, type,
                    kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Alltoall:
        MPI_Alltoall(in, count, type, at.out, count, type, MPI_COMM_WORLD);
        break;
      case Collective::RingShift:
        if (in_place) {
          MPI_Sendrecv_replace(at.out, count, type, next, 0, before, 0, MPI_COMM_WORLD,
                               MPI_STATUS_IGNORE);
        } else {
          MPI_Sendrecv(at.in, count, type, next, 0, at.out, count, type, before, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
        }
        break;
      case Collective::Allgatherv:
      case Collective::ReduceScatterv:
      case Collective::Alltoallv:
      case Collective::Gatherv:
      case Collective::Scatterv:
        break;  // there are no such workloads
    }
  };
  if (cell.collective == Collective::ReduceScatter && cell.placement == Placement::InPlace) {
    return std::nullopt;
  }
  return Contender{"mpi", run};
}

bool mpi_runs() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized != 0;
}

void mpi_barrier() { MPI_Barrier(MPI_COMM_WORLD); }

std::string mpi_description() {
  if (!mpi_runs()) return {};
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name(text, static_cast<std::size_t>(length));
  name.resize(std::min(name.size(), name.find(',')));
  for (const char* variable : {"OMPI_MCA_coll", "OMPI_MCA_pml", "OMPI_MCA_btl"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr) name += std::string(" ") + (variable + 9) + "=" + value;
  }
  return name;
}

}  // namespace tutti::bench

#else

namespace tutti::bench {

std::optional<Contender> mpi_baseline(const Team&, const Workload&) { return std::nullopt; }
bool mpi_runs() { return false; }
void mpi_barrier() {}
std::string mpi_description() { return {}; }

}  // namespace tutti::bench

#endif
