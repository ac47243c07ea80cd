// SPDX-License-Identifier: Apache-2.0
#include "bench/baseline.hpp"

#ifdef TUTTI_HAVE_MPI

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <vector>

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

bool in_place(const Workload& work) { return work.cell().placement == Placement::InPlace; }

/// MPI's call with equal blocks.
class Calls {
 public:
  Calls(const Workload& work, MPI_Datatype type, MPI_Op op)
      : type_(type), op_(op), is_root_(work.pe() == kRoot) {
    count_ = static_cast<int>(has_blocks(work.cell().collective) ? work.blocks().size(0)
                                                                 : work.elements());
  }

  void operator()(const Workload& work, const Workload::Buffers& at) const {
    const void* in = in_place(work) ? MPI_IN_PLACE : static_cast<const void*>(at.in);
    const void* root_in = is_root_ ? in : at.in;
    switch (work.cell().collective) {
      case Collective::Allreduce:
        MPI_Allreduce(in, at.out, count_, type_, op_, MPI_COMM_WORLD);
        break;
      case Collective::Allgather:
        MPI_Allgather(in, count_, type_, at.out, count_, type_, MPI_COMM_WORLD);
        break;
      case Collective::ReduceScatter:
        MPI_Reduce_scatter_block(at.in, at.out, count_, type_, op_, MPI_COMM_WORLD);
        break;
      case Collective::Broadcast:
        MPI_Bcast(at.out, count_, type_, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Reduce:
        MPI_Reduce(root_in, at.out, count_, type_, op_, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Gather:
        MPI_Gather(root_in, count_, type_, at.out, count_, type_, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Scatter:
        MPI_Scatter(at.in, count_, type_, in_place(work) && is_root_ ? MPI_IN_PLACE : at.out,
                    count_, type_, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Alltoall:
        MPI_Alltoall(in, count_, type_, at.out, count_, type_, MPI_COMM_WORLD);
        break;
      case Collective::RingShift:
        ring_shift(work, at);
        break;
      case Collective::Allgatherv:
      case Collective::ReduceScatterv:
      case Collective::Alltoallv:
      case Collective::Gatherv:
      case Collective::Scatterv:
        break;  // `CallsWithCounts`
    }
  }

 private:
  void ring_shift(const Workload& work, const Workload::Buffers& at) const {
    const int pes = work.blocks().pes();
    const int next = (work.pe() + 1) % pes;
    const int before = (work.pe() + pes - 1) % pes;
    if (in_place(work)) {
      MPI_Sendrecv_replace(at.out, count_, type_, next, 0, before, 0, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
    } else {
      MPI_Sendrecv(at.in, count_, type_, next, 0, at.out, count_, type_, before, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
  }

  MPI_Datatype type_;
  MPI_Op op_;
  bool is_root_;
  int count_;
};

/// MPI's call with a length for each block.
class CallsWithCounts {
 public:
  CallsWithCounts(const Workload& work, MPI_Datatype type, MPI_Op op) : type_(type), op_(op) {
    for (int pe = 0; pe < work.blocks().pes(); ++pe) {
      counts_.push_back(static_cast<int>(work.blocks().size(pe)));
      begins_.push_back(static_cast<int>(work.blocks().begin(pe)));
      received_from_.push_back(pe * mine(work));
    }
    received_.assign(counts_.size(), mine(work));
  }

  void operator()(const Workload& work, const Workload::Buffers& at) const {
    const void* in = in_place(work) ? MPI_IN_PLACE : static_cast<const void*>(at.in);
    const bool is_root = work.pe() == kRoot;
    switch (work.cell().collective) {
      case Collective::Allgatherv:
        MPI_Allgatherv(in, mine(work), type_, at.out, counts_.data(), begins_.data(), type_,
                       MPI_COMM_WORLD);
        break;
      case Collective::ReduceScatterv:
        MPI_Reduce_scatter(at.in, at.out, counts_.data(), type_, op_, MPI_COMM_WORLD);
        break;
      case Collective::Alltoallv:
        MPI_Alltoallv(at.in, counts_.data(), begins_.data(), type_, at.out, received_.data(),
                      received_from_.data(), type_, MPI_COMM_WORLD);
        break;
      case Collective::Gatherv:
        MPI_Gatherv(is_root ? in : at.in, mine(work), type_, at.out, counts_.data(), begins_.data(),
                    type_, kRoot, MPI_COMM_WORLD);
        break;
      case Collective::Scatterv:
        MPI_Scatterv(at.in, counts_.data(), begins_.data(), type_,
                     in_place(work) && is_root ? MPI_IN_PLACE : at.out, mine(work), type_, kRoot,
                     MPI_COMM_WORLD);
        break;
      default:
        break;  // `Calls`
    }
  }

 private:
  static int mine(const Workload& work) { return static_cast<int>(work.blocks().size(work.pe())); }

  MPI_Datatype type_;
  MPI_Op op_;
  std::vector<int> counts_;
  std::vector<int> begins_;
  std::vector<int> received_;
  std::vector<int> received_from_;
};

}  // namespace

std::optional<Contender> mpi_baseline(const Team& team, const Workload& work) {
  const Cell& cell = work.cell();
  const bool reduces = tutti::reduces(cell.collective);
  MPI_Datatype type = datatype_of(cell.dtype);
  const MPI_Op op = reduces ? op_of(cell.op) : MPI_OP_NULL;
  const std::size_t most = std::max(work.in_elements(), work.out_elements());
  if (!running_with(team) || most > INT_MAX || (reduces && op == MPI_OP_NULL)) {
    return std::nullopt;
  }
  if (type == MPI_DATATYPE_NULL) {
    if (reduces) return std::nullopt;
    type = MPI_UINT16_T;  // 16 bits travel as they are
  }
  // MPI's in place takes the input from the output buffer's start; out of place is fairer.
  const bool scatters = reduces && work.shape().out == Holds::Block;
  if (scatters && cell.placement == Placement::InPlace) return std::nullopt;
  if (has_counts(cell.collective)) return Contender{"mpi", CallsWithCounts(work, type, op)};
  return Contender{"mpi", Calls(work, type, op)};
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
