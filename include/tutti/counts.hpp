// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "tutti/collectives.hpp"
#include "tutti/team.hpp"
#include "tutti/types.hpp"

/// Collectives whose blocks have lengths of their own. Errors: also those of all collectives, see
/// `allreduce`.

namespace tutti {

namespace detail {
template <class In, class Out>
Buffers counted_buffers(const In& in, Out&& out, std::span<const std::size_t> counts) {
  Buffers buffers = buffers_of(in, out);
  buffers.counts = counts;
  return buffers;
}
}  // namespace detail

/// allgather with a block length for each PE: out = the PEs' `in`, one after the other. `counts`:
/// [size()], elements of each block, equal on all PEs; `in`: [counts[pe()]], `out`: [their sum];
/// disjoint, or in place with `in` where its block is in `out`.
/// Errors: also `Mismatch` for counts that differ from PE to PE.
template <detail::ElementRange In, detail::ElementRange Out>
void allgatherv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts,
                const Call& call = {}) {
  const detail::Buffers buffers = detail::counted_buffers(in, out, counts);
  detail::allgatherv(team, buffers, call);
}

/// reduce_scatter with a block length for each PE: out = reduction over all PEs of block pe() of
/// `in`. `counts`: [size()], elements of each block, equal on all PEs; `in`: [their sum], `out`:
/// [counts[pe()]]; disjoint, or in place with `out` where its block is in `in`.
/// Errors: also `Mismatch` for counts that differ from PE to PE.
template <detail::ElementRange In, detail::ElementRange Out>
void reduce_scatterv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts,
                     Op op, const Call& call = {}) {
  const detail::Buffers buffers = detail::counted_buffers(in, out, counts);
  detail::reduce_scatterv(team, buffers, op, call);
}

/// alltoall with block lengths: block j of `in` goes to PE j, block j of `out` comes from it;
/// blocks lie one after the other. `send_counts`, `receive_counts`: [size()], elements of the
/// blocks of `in` and `out`; what PE i sends to PE j, PE j receives from PE i. `in`, `out`: [their
/// sums]; disjoint. Errors: also `Mismatch`, which leaves the team unusable, where two PEs' counts
/// do not agree.
template <detail::ElementRange In, detail::ElementRange Out>
void alltoallv(Team& team, const In& in, std::span<const std::size_t> send_counts, Out&& out,
               std::span<const std::size_t> receive_counts, const Call& call = {}) {
  detail::Buffers buffers = detail::counted_buffers(in, out, send_counts);
  buffers.out_counts = receive_counts;
  detail::alltoallv(team, buffers, call);
}

/// gather with a block length for each PE: the root's out = the PEs' `in`, one after the other.
/// `counts`: [size()], elements of each block, equal on all PEs (a PE that knows no more than its
/// own length cannot call this); `in`: [counts[pe()]], the root's `out`: [their sum]; disjoint, or
/// in place on the root with `in` where its block is in `out`. Elsewhere `out` is neither written
/// nor looked at, and the call returns when `in` may be written again.
/// Errors: also `Mismatch` for counts that differ from PE to PE.
template <detail::ElementRange In, detail::ElementRange Out>
void gatherv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts, int root,
             const Call& call = {}) {
  const detail::Buffers buffers = detail::counted_buffers(in, out, counts);
  detail::gatherv(team, buffers, root, call);
}

/// scatter with a block length for each PE: out = block pe() of the root's `in`. `counts`:
/// [size()], elements of each block, equal on all PEs; the root's `in`: [their sum], `out`:
/// [counts[pe()]]; disjoint, or in place on the root with `out` where its block is in `in`.
/// Elsewhere `in` is not looked at. The root returns when `in` may be written again.
/// Errors: also `Mismatch` for counts that differ from PE to PE.
template <detail::ElementRange In, detail::ElementRange Out>
void scatterv(Team& team, const In& in, Out&& out, std::span<const std::size_t> counts, int root,
              const Call& call = {}) {
  const detail::Buffers buffers = detail::counted_buffers(in, out, counts);
  detail::scatterv(team, buffers, root, call);
}

}  // namespace tutti
