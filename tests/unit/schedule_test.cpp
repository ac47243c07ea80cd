// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "collectives/schedule/binomial.hpp"
#include "collectives/schedule/pairing.hpp"
#include "collectives/schedule/partition.hpp"
#include "collectives/schedule/pipeline.hpp"
#include "collectives/schedule/ring_steps.hpp"

namespace tutti::detail {
namespace {

TEST(Partition, parts_cover_everything_once_and_are_balanced) {
  for (std::size_t parts = 1; parts <= 70; ++parts) {
    for (std::size_t n = 0; n <= 200; ++n) {
      std::size_t at = 0;
      for (std::size_t i = 0; i < parts; ++i) {
        const Part part = part_of(i, parts, n);
        ASSERT_EQ(part.begin, at);
        ASSERT_LE(part.size, n / parts + 1);
        ASSERT_GE(part.size, n / parts);
        at += part.size;
      }
      ASSERT_EQ(at, n);
    }
  }
}

TEST(Partition, granular_parts_begin_on_granules_and_the_first_is_the_longest) {
  for (std::size_t granule : {1, 3, 16, 32}) {
    for (std::size_t parts = 1; parts <= 33; ++parts) {
      for (std::size_t n = 0; n <= 300; ++n) {
        std::size_t at = 0;
        for (std::size_t i = 0; i < parts; ++i) {
          const Part part = part_of(i, parts, n, granule);
          ASSERT_EQ(part.begin, at);
          ASSERT_TRUE(part.begin % granule == 0 || part.begin == n);
          ASSERT_LE(part.size, part_of(0, parts, n, granule).size);
          at += part.size;
        }
        ASSERT_EQ(at, n);
      }
    }
  }
}

TEST(Partition, pieces_cover_everything_and_there_is_always_one) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t n = 0; n <= 100; ++n) {
      std::size_t at = 0;
      ASSERT_GE(pieces(n, size), 1u);
      for (std::size_t i = 0; i < pieces(n, size); ++i) {
        ASSERT_EQ(piece_of(i, n, size).begin, at);
        at += piece_of(i, n, size).size;
      }
      ASSERT_EQ(at, n);
    }
  }
}

TEST(Partition, huge_counts_do_not_overflow) {
  const std::size_t n = (std::size_t{1} << 31) + 64;
  const Part last = part_of(8, 9, n, 16);
  EXPECT_EQ(last.begin + last.size, n);
  const std::size_t pieces_of_n = pieces(n, 4096);
  const Part tail = piece_of(pieces_of_n - 1, n, 4096);
  EXPECT_EQ(tail.begin + tail.size, n);
}

TEST(Pipeline, what_is_in_flight_fits_in_the_ring) {
  for (std::size_t ring : {16u << 10, 64u << 10, 2u << 20}) {
    for (std::size_t element : {1, 2, 4, 8, 24, 129, 4097, 65536}) {
      for (std::size_t lag = 0; lag <= 4; ++lag) {
        for (std::size_t parts : {1, 2, 9, 17}) {
          for (std::size_t times : {std::size_t{1}, std::size_t{2}, parts}) {
            const std::size_t room =
                std::max(ring, Pipeline::least_ring(element, lag, times, parts));
            const Pipeline plan =
                Pipeline::plan(1'000'003, element, 4u << 20, lag, room, times, parts);
            // Each part may be longer by what is no whole granule, or by an element.
            const std::size_t rounding = std::max<std::size_t>(128, element);
            const std::size_t staged = plan.chunk * element * times + parts * rounding;
            ASSERT_LE(staged * std::min(lag + 1, plan.chunks), room)
                << ring << " " << element << " " << lag;
            ASSERT_EQ(plan.part(plan.chunks - 1).begin + plan.part(plan.chunks - 1).size,
                      1'000'003u);
          }
        }
      }
    }
  }
}

TEST(Pipeline, a_call_of_one_chunk_needs_the_room_of_two_calls_whatever_the_lag) {
  for (std::size_t bytes : {1, 128, 1000, 4096, 100'000}) {
    for (std::size_t parts : {1, 3}) {
      for (std::size_t lag = 0; lag <= 4; ++lag) {
        const std::size_t ring = 2 * parts * (bytes + kGranuleBytes);
        const auto plan_in = [&](std::size_t room) {
          return Pipeline::plan(bytes, 1, 1 << 20, lag, room, parts, parts);
        };
        EXPECT_EQ(plan_in(ring).chunks, 1u) << bytes;
        EXPECT_FALSE(plan_in(ring).wraps) << bytes;
        if (bytes > 128) {
          EXPECT_TRUE(plan_in(ring / 2).wraps) << bytes;
        }
      }
    }
  }
}

TEST(Ring, every_slice_is_folded_by_all_and_ends_at_its_owner) {
  for (int pes = 2; pes <= 33; ++pes) {
    for (int pe = 0; pe < pes; ++pe) {
      // What I read in step s is what the PE before me folded (or offered) in step s - 1.
      const int before = ring_before(pe, pes);
      EXPECT_EQ(ring_fold_slice(pe, 0, pes), ring_first_slice(before, pes));
      for (int s = 1; s < pes - 1; ++s) {
        EXPECT_EQ(ring_fold_slice(pe, s, pes), ring_fold_slice(before, s - 1, pes));
        EXPECT_EQ(ring_gather_block(pe, s, pes), ring_gather_block(before, s - 1, pes));
      }
      EXPECT_EQ(ring_fold_slice(pe, pes - 2, pes), pe);
      EXPECT_EQ(ring_gather_block(pe, 0, pes), before);
    }
  }
}

TEST(Binomial, every_pe_hears_from_one_that_was_told_before) {
  for (int pes = 1; pes <= 33; ++pes) {
    for (int root = 0; root < pes; ++root) {
      std::set<int> parents;
      for (int pe = 0; pe < pes; ++pe) {
        const int parent = binomial_parent(pe, root, pes);
        if (pe == root) {
          EXPECT_EQ(parent, -1);
          continue;
        }
        EXPECT_LT(binomial_place(parent, root, pes), binomial_place(pe, root, pes));
        parents.insert(parent);
      }
      for (int pe = 0; pe < pes; ++pe) {
        EXPECT_EQ(binomial_has_children(pe, root, pes), parents.contains(pe)) << pe << " " << pes;
      }
    }
  }
}

TEST(Binomial, children_are_those_whose_parent_a_pe_is) {
  for (int pes = 1; pes <= 33; ++pes) {
    for (int root = 0; root < pes; ++root) {
      for (int pe = 0; pe < pes; ++pe) {
        std::set<int> children;
        for (int i = 0; i < binomial_children(pe, root, pes); ++i) {
          EXPECT_TRUE(children.insert(binomial_child(pe, i, root, pes)).second);
        }
        for (int other = 0; other < pes; ++other) {
          EXPECT_EQ(binomial_parent(other, root, pes) == pe, children.contains(other))
              << other << " of " << pe << ", root " << root << ", " << pes << " PEs";
        }
      }
    }
  }
}

TEST(Pairing, partners_are_mutual_and_everyone_meets_everyone_once) {
  for (int pes = 1; pes <= 33; ++pes) {
    for (int pe = 0; pe < pes; ++pe) {
      std::set<int> met;
      for (int round = 0; round < pes; ++round) {
        const int partner = pair_partner(pe, round, pes);
        EXPECT_EQ(pair_partner(partner, round, pes), pe);
        EXPECT_TRUE(met.insert(partner).second);
      }
      EXPECT_EQ(met.size(), static_cast<std::size_t>(pes));
    }
  }
}

}  // namespace
}  // namespace tutti::detail
