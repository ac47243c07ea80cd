// SPDX-License-Identifier: Apache-2.0
//
// Barriers of more than one step. They are calls of a lane like all others: the arrival word says
// who is here, so whoever is missing can be named, and `progress` counts steps. Every PE is awaited
// by somebody, and nobody goes on before that one has seen it, so all have arrived when any leaves.
//
// Idea: dissemination: news of everybody travels at doubling distances around the ring of PEs.
//       Tree: news climbs to PE 0, and comes back.
// Cost a PE: flat: 1 word raised, p - 1 lines read; dissemination: log2 p (rounded up) of both,
//            one after the other; tree: at most 3 words raised and 5 lines read, 2 log4 p in a row.
// Signals: dissemination: step s says that I have heard of the 2^(s-1) PEs up to me. Tree: step 0
//          says that I am here, 1 that all below me are, 2 that everyone is.
// Source: Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization" (1988);
//         Mellor-Crummey, Scott, "Algorithms for scalable synchronization on shared-memory
//         multiprocessors" (1991), trees of fan-in 4.
#include "primitives/barrier.hpp"

#include "primitives/kary_tree.hpp"
#include "primitives/lane.hpp"

namespace tutti::detail {

void Lane::disseminate() {
  std::uint64_t step = 1;
  publish(step);
  for (int distance = 1; distance < pes_; distance *= 2) {
    await(pe_ - distance + (pe_ < distance ? pes_ : 0), step);
    if (2 * distance < pes_) publish(++step);
  }
}

void Lane::climb_and_return() {
  const int children = kary_children(pe_, kBarrierFanout, pes_);
  const bool is_root = pe_ == 0;
  if (children > 0) publish(0);
  for (int i = 0; i < children; ++i) await(kary_first_child(pe_, kBarrierFanout) + i, 1);
  if (!is_root || pes_ == 1) publish(1);
  if (!is_root) await(kary_parent(pe_, kBarrierFanout), 2);
  if (children > 0) publish(2);
}

void Lane::barrier_in_steps() {
  barrier_ == BarrierKind::Tree ? climb_and_return() : disseminate();
  all_arrived_ = call_;
}

}  // namespace tutti::detail
