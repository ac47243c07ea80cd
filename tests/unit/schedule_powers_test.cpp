// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "collectives/schedule/bruck.hpp"
#include "collectives/schedule/doubling.hpp"
#include "collectives/schedule/neighbour_exchange.hpp"
#include "primitives/kary_tree.hpp"

// Schedules in powers of two, and trees: played through for every number of PEs.

namespace tutti::detail {
namespace {

constexpr int kMostPes = 33;

TEST(Doubling, rounds_are_log2_rounded_up) {
  for (int pes = 1; pes <= kMostPes; ++pes) {
    const int rounds = doubling_rounds(pes);
    EXPECT_GE(1 << rounds, pes);
    EXPECT_TRUE(rounds == 0 || 1 << (rounds - 1) < pes) << pes;
    EXPECT_EQ(is_power_of_two(pes), 1 << rounds == pes);
  }
}

using BlockAt = int (*)(int, int, int);

/// Every PE's staging, place by place, round by round.
void play_allgather(int pes, BlockAt block_at) {
  std::vector<std::vector<int>> staged(static_cast<std::size_t>(pes));
  for (int pe = 0; pe < pes; ++pe) staged[static_cast<std::size_t>(pe)] = {pe};
  for (int round = 0; round < doubling_rounds(pes); ++round) {
    const auto before = staged;
    for (int pe = 0; pe < pes; ++pe) {
      auto& mine = staged[static_cast<std::size_t>(pe)];
      ASSERT_EQ(mine.size(), std::size_t{1} << round);
      const int from = block_at(pe, 1 << round, pes);
      const auto& theirs = before[static_cast<std::size_t>(from)];
      for (int i = 0; i < doubling_blocks(round, pes); ++i) {
        ASSERT_EQ(block_at(from, i, pes), theirs[static_cast<std::size_t>(i)]);
        mine.push_back(theirs[static_cast<std::size_t>(i)]);
      }
    }
  }
  for (const auto& mine : staged) {
    EXPECT_EQ(mine.size(), static_cast<std::size_t>(pes));
    EXPECT_EQ(std::set<int>(mine.begin(), mine.end()).size(), mine.size()) << pes;
  }
}

TEST(Doubling, everyone_takes_over_every_block_once) {
  for (int pes = 2; pes <= kMostPes; ++pes) {
    play_allgather(pes, bruck_block);
    if (is_power_of_two(pes)) play_allgather(pes, xor_block);
  }
}

TEST(Halving, every_block_meets_every_input_and_ends_at_its_owner) {
  for (int pes = 2; pes <= 64; pes *= 2) {
    // For each PE and block: whose input is in the partial result.
    std::map<std::pair<int, int>, std::set<int>> partial;
    for (int pe = 0; pe < pes; ++pe) {
      for (int block = 0; block < pes; ++block) partial[{pe, block}] = {pe};
    }
    for (int round = 0; round < doubling_rounds(pes); ++round) {
      const auto before = partial;
      for (int pe = 0; pe < pes; ++pe) {
        const Halving at = Halving::of(pe, round, pes);
        const Halving other = Halving::of(at.partner, round, pes);
        ASSERT_EQ(other.partner, pe);
        ASSERT_EQ(other.mine, at.theirs);
        ASSERT_EQ(std::min(at.mine, at.theirs), at.group);
        for (int block = at.mine; block < at.mine + at.half; ++block) {
          const auto& theirs = before.at({at.partner, block});
          partial[{pe, block}].insert(theirs.begin(), theirs.end());
        }
      }
    }
    for (int pe = 0; pe < pes; ++pe) {
      const std::set<int>& mine = partial[{pe, pe}];
      EXPECT_EQ(mine.size(), static_cast<std::size_t>(pes));
      EXPECT_EQ(Halving::of(pe, doubling_rounds(pes) - 1, pes).mine, pe);
    }
  }
}

TEST(Doubling, groups_of_partners_are_side_by_side) {
  for (int pes = 2; pes <= 64; pes *= 2) {
    for (int pe = 0; pe < pes; ++pe) {
      for (int round = 0; round < doubling_rounds(pes); ++round) {
        const int mine = doubling_group(pe, round);
        const int theirs = doubling_group(doubling_partner(pe, round), round);
        EXPECT_EQ(std::min(mine, theirs), doubling_group(pe, round + 1));
        EXPECT_EQ(std::abs(mine - theirs), 1 << round);
        EXPECT_TRUE(mine <= pe && pe < mine + (1 << round));
      }
    }
  }
}

TEST(Extras, every_pe_behind_has_a_keeper_of_its_own) {
  for (int pes = 1; pes <= kMostPes; ++pes) {
    const Extras extras = Extras::of(pes);
    EXPECT_TRUE(is_power_of_two(extras.core));
    EXPECT_TRUE(extras.core <= pes && pes < 2 * extras.core);
    EXPECT_EQ(extras.any(pes), !is_power_of_two(pes));
    for (int pe = 0; pe < pes; ++pe) {
      if (extras.is_extra(pe)) {
        EXPECT_EQ(extras.extra(extras.keeper(pe), pes), pe);
      } else if (extras.extra(pe, pes) >= 0) {
        EXPECT_EQ(extras.keeper(extras.extra(pe, pes)), pe);
      }
    }
  }
}

TEST(Bruck, every_block_reaches_the_pe_it_is_for) {
  for (int pes = 2; pes <= kMostPes; ++pes) {
    for (int block = 0; block < pes; ++block) {
      int moved = 0;
      for (int round = 0; round < doubling_rounds(pes); ++round) {
        const int came = bruck_came(block, round);
        EXPECT_EQ(came < 0, moved == 0);
        if (came >= 0) {
          EXPECT_TRUE(came < round && bruck_moves(block, came));
        }
        for (int r = came + 1; r < round; ++r) EXPECT_FALSE(bruck_moves(block, r));
        if (bruck_moves(block, round)) moved += 1 << round;
      }
      EXPECT_EQ(moved, block);
    }
  }
}

TEST(Bruck, places_of_moving_blocks_are_counted_without_gaps) {
  for (int pes = 2; pes <= kMostPes; ++pes) {
    for (int round = 0; round < doubling_rounds(pes); ++round) {
      int place = 0;
      for (int block = 0; block < pes; ++block) {
        if (!bruck_moves(block, round)) continue;
        EXPECT_EQ(bruck_moving(block, round), place) << block << " " << round;
        ++place;
      }
      EXPECT_EQ(bruck_moving(pes, round), place);
    }
  }
}

/// Played through with what each PE was given last, as the algorithm passes it on.
TEST(NeighbourExchange, everyone_takes_over_every_block_once_from_whom_it_exchanges_with) {
  for (int pes = 2; pes <= 32; pes += 2) {
    using Blocks = std::set<int>;
    std::vector<Blocks> have(static_cast<std::size_t>(pes));
    std::vector<Blocks> last(static_cast<std::size_t>(pes));
    const auto at = [](int pe) { return static_cast<std::size_t>(pe); };
    for (int pe = 0; pe < pes; ++pe) {
      const int partner = neighbour_partner(pe, 0, pes);
      ASSERT_EQ(partner / 2, pe / 2);
      last[at(pe)] = have[at(pe)] = {pe, partner};
    }
    for (int step = 1; step < neighbour_steps(pes); ++step) {
      const auto offered = last;
      for (int pe = 0; pe < pes; ++pe) {
        const int from = neighbour_partner(pe, step, pes);
        ASSERT_EQ(neighbour_partner(from, step, pes), pe) << "it looks back";
        const int first = 2 * neighbour_pair(pe, step, pes);
        ASSERT_EQ(offered[at(from)], (Blocks{first, first + 1})) << pes << " " << pe << " " << step;
        for (const int block : {first, first + 1}) {
          ASSERT_TRUE(have[at(pe)].insert(block).second) << block << " came twice";
        }
        last[at(pe)] = {first, first + 1};
      }
    }
    for (const Blocks& all : have) EXPECT_EQ(all.size(), static_cast<std::size_t>(pes));
  }
}

TEST(KaryTree, children_are_those_whose_parent_a_pe_is) {
  for (int fanout = 1; fanout <= 8; ++fanout) {
    for (int pes = 1; pes <= kMostPes; ++pes) {
      for (int pe = 0; pe < pes; ++pe) {
        std::set<int> children;
        for (int i = 0; i < kary_children(pe, fanout, pes); ++i) {
          children.insert(kary_first_child(pe, fanout) + i);
        }
        EXPECT_TRUE(children.empty() || *children.rbegin() < pes);
        for (int other = 0; other < pes; ++other) {
          EXPECT_EQ(kary_parent(other, fanout) == pe, children.contains(other));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::detail
