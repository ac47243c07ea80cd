// SPDX-License-Identifier: Apache-2.0
#include "collectives/allgather/registry.hpp"

#include "collectives/allgatherv/registry.hpp"
#include "collectives/allreduce/registry.hpp"
#include "collectives/alltoall/registry.hpp"
#include "collectives/alltoallv/registry.hpp"
#include "collectives/broadcast/registry.hpp"
#include "collectives/gather/registry.hpp"
#include "collectives/gatherv/registry.hpp"
#include "collectives/reduce/registry.hpp"
#include "collectives/reduce_scatter/registry.hpp"
#include "collectives/reduce_scatterv/registry.hpp"
#include "collectives/ring_shift/registry.hpp"
#include "collectives/scatter/registry.hpp"
#include "collectives/scatterv/registry.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

std::span<const Algorithm* const> algorithms(Collective collective) {
  switch (collective) {
    case Collective::Allreduce:
      return detail::allreduce::kRegistry;
    case Collective::Allgather:
      return detail::allgather::kRegistry;
    case Collective::ReduceScatter:
      return detail::reduce_scatter::kRegistry;
    case Collective::Broadcast:
      return detail::broadcast::kRegistry;
    case Collective::Reduce:
      return detail::reduce::kRegistry;
    case Collective::Gather:
      return detail::gather::kRegistry;
    case Collective::Scatter:
      return detail::scatter::kRegistry;
    case Collective::Alltoall:
      return detail::alltoall::kRegistry;
    case Collective::Allgatherv:
      return detail::allgatherv::kRegistry;
    case Collective::ReduceScatterv:
      return detail::reduce_scatterv::kRegistry;
    case Collective::Alltoallv:
      return detail::alltoallv::kRegistry;
    case Collective::Gatherv:
      return detail::gatherv::kRegistry;
    case Collective::Scatterv:
      return detail::scatterv::kRegistry;
    case Collective::RingShift:
      break;
  }
  return detail::ring_shift::kRegistry;
}

}  // namespace tutti
