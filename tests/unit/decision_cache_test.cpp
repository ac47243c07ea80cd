// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/decision_cache.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tutti/problem.hpp"

namespace tutti::detail {
namespace {

Problem allreduce_of(std::size_t count, int pes = 2) {
  Problem problem;
  problem.pes = pes;
  problem.count = count;
  return problem;
}

/// Four collectives, each at two sizes, as a training step or a decode step alternates between.
std::vector<DecisionKey> hot_problems(int line_ns) {
  std::vector<DecisionKey> keys;
  for (const Collective collective : {Collective::Allreduce, Collective::Allgather,
                                      Collective::ReduceScatter, Collective::Alltoall}) {
    for (const std::size_t count : {std::size_t{1024}, std::size_t{1} << 20}) {
      Problem problem = allreduce_of(count);
      problem.collective = collective;
      problem.line_ns = line_ns;
      keys.push_back(key_of(problem));
    }
  }
  return keys;
}

/// How many of the keys have to be selected in one pass over them.
std::size_t selections(DecisionCache<DecisionKey>& cache, const std::vector<DecisionKey>& keys) {
  std::size_t made = 0;
  for (const DecisionKey& key : keys) {
    const DecisionKey* known = cache.find(key);
    if (known == nullptr) {
      known = &cache.insert(key, key);
      ++made;
    }
    EXPECT_EQ(*known, key);
  }
  return made;
}

TEST(DecisionKey, differs_where_problems_differ) {
  const Problem base = allreduce_of(100, 3);
  std::vector<Problem> all(17, base);
  for (std::size_t i = 13; i < 17; ++i) {
    all[i].dtype = DType::User;
    all[i].op = Op::User;
    all[i].element_bytes = i < 15 ? 32 : 65536;
    all[i].commutative = i % 2 == 0;
  }
  all[1].collective = Collective::Broadcast;
  all[11].collective = Collective::Alltoall;
  all[2].dtype = DType::U64;
  all[3].op = Op::Xor;
  all[4].memory = Memory::Symmetric;
  all[5].contract = Contract::Ordered;
  all[6].reachable = false;
  all[7].pes = 65536;
  all[8].nodes = 65536;
  all[9].line_ns = 1 << 16;
  all[12].shared_address_space = true;
  all[10].count = std::size_t{1} << 40;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NE(key_of(all[i]), kNoProblem);
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(key_of(all[i]) == key_of(all[j]), i == j) << i << " " << j;
    }
  }
  static_assert(sizeof(DecisionKey) == 16);
}

TEST(DecisionCache, returns_what_was_inserted) {
  DecisionCache<std::size_t> cache;
  EXPECT_EQ(cache.find(key_of(Problem{})), nullptr);
  for (std::size_t count = 0; count < 200; ++count) {
    const DecisionKey key = key_of(allreduce_of(count * 97, 3));
    EXPECT_EQ(cache.find(key), nullptr);
    EXPECT_EQ(cache.insert(key, count), count);
    ASSERT_NE(cache.find(key), nullptr);
    EXPECT_EQ(*cache.find(key), count);
  }
  cache.clear();
  for (std::size_t count = 0; count < 200; ++count) {
    EXPECT_EQ(cache.find(key_of(allreduce_of(count * 97, 3))), nullptr);
  }
}

TEST(DecisionCache, eight_problems_in_turn_are_selected_once_in_every_regime) {
  for (int line_ns = 0; line_ns <= 400; ++line_ns) {
    DecisionCache<DecisionKey> cache;
    const std::vector<DecisionKey> keys = hot_problems(line_ns);
    ASSERT_EQ(keys.size(), cache.kWays);
    EXPECT_EQ(selections(cache, keys), keys.size());
    EXPECT_EQ(selections(cache, keys), 0u) << line_ns << " ns";
  }
}

/// Whatever a program did before: the last eight problems are known, also if they share places.
TEST(DecisionCache, the_last_eight_problems_are_known_whatever_came_before) {
  DecisionCache<DecisionKey> cache;
  for (int line_ns = 0; line_ns <= 4000; ++line_ns) {  // nothing is cleared in between
    const std::vector<DecisionKey> keys = hot_problems(line_ns);
    EXPECT_EQ(selections(cache, keys), keys.size());
    EXPECT_EQ(selections(cache, keys), 0u) << line_ns << " ns";
  }
}

TEST(DecisionCache, what_is_used_stays_while_others_come_and_go) {
  DecisionCache<DecisionKey> cache;
  const DecisionKey kept = key_of(allreduce_of(7));
  cache.insert(kept, kept);
  for (std::size_t count = 100; count < 5000; ++count) {
    const DecisionKey other = key_of(allreduce_of(count));
    cache.insert(other, other);
    ASSERT_NE(cache.find(kept), nullptr) << "pushed out by " << count;
  }
  EXPECT_EQ(cache.find(key_of(allreduce_of(100))), nullptr) << "more problems than places";
}

}  // namespace
}  // namespace tutti::detail
