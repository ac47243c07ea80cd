// SPDX-License-Identifier: Apache-2.0
#include "primitives/worker_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "primitives/cpu.hpp"

namespace tutti::tests {
namespace {

using namespace tutti::detail;

/// Runs `pieces` pieces, each of which adds to a plain counter of its own, `calls` times.
bool each_piece_runs_once(WorkerPool& pool, int pieces, int calls) {
  struct alignas(64) Counter {
    int value = 0;
  };
  std::array<Counter, 8> counters;
  for (int call = 1; call <= calls; ++call) {
    pool.share(pieces, [&](int i) noexcept { ++counters[static_cast<std::size_t>(i)].value; });
    for (int i = 0; i < pieces; ++i) {
      if (counters[static_cast<std::size_t>(i)].value != call) return false;
    }
  }
  return true;
}

TEST(WorkerPool, every_piece_runs_once_and_is_visible_on_return) {
  for (const int spins : {0, 200}) {
    for (int workers = 2; workers <= 5; ++workers) {
      WorkerPool pool(workers, affinity(), spins);
      for (int pieces = 1; pieces <= 8; ++pieces) {
        EXPECT_TRUE(each_piece_runs_once(pool, pieces, 300)) << workers << ' ' << pieces;
      }
    }
  }
}

TEST(WorkerPool, callers_at_the_same_time_each_get_their_own_pieces_done) {
  for (const int spins : {0, 200}) {
    WorkerPool pool(3, affinity(), spins);
    std::array<std::atomic<bool>, 4> good{};
    {
      std::vector<std::jthread> callers;
      for (std::atomic<bool>& each : good) {
        callers.emplace_back([&] { each = each_piece_runs_once(pool, 3, 2000); });
      }
    }
    for (const std::atomic<bool>& each : good) EXPECT_TRUE(each);
  }
}

TEST(WorkerPool, a_pool_ends_at_once_whether_it_worked_or_not) {
  for (int i = 0; i < 50; ++i) {
    WorkerPool pool(4, affinity(), i % 2 == 0 ? 0 : 200);
    EXPECT_TRUE(i % 3 == 0 || each_piece_runs_once(pool, 4, i % 5));
  }
}

TEST(WorkerPool, bounds_cover_everything_once_in_whole_elements_from_line_to_line) {
  alignas(64) std::array<std::byte, 64> line{};
  for (const std::size_t element : {1, 2, 4, 8}) {
    for (std::size_t shift = 0; shift < 64; shift += element == 8 ? 4 : 1) {
      for (const std::size_t bytes : {4096, 4096 + 8 * 37, 999 * 8}) {
        for (int pieces = 1; pieces <= 7; ++pieces) {
          const PieceBounds bounds(line.data() + shift, bytes, element, pieces);
          EXPECT_EQ(bounds.at(0), 0U);
          EXPECT_EQ(bounds.at(pieces), bytes);
          for (int i = 1; i < pieces; ++i) {
            ASSERT_LT(bounds.at(i - 1), bounds.at(i));
            ASSERT_EQ(bounds.at(i) % element, 0U);
            const std::size_t at = (shift + bounds.at(i)) % 64;
            ASSERT_EQ(at, shift % element == 0 ? 0 : shift);
          }
        }
      }
    }
  }
}

TEST(WorkerPool, only_work_that_is_large_enough_is_cut) {
  const WorkerPool pool(4, affinity(), 0);
  EXPECT_EQ(pool.pieces(0), 1);
  EXPECT_EQ(pool.pieces(2 * kWorkerPieceBytes - 1), 1);
  EXPECT_EQ(pool.pieces(2 * kWorkerPieceBytes), 2);
  EXPECT_EQ(pool.pieces(100 * kWorkerPieceBytes), 4);
}

TEST(WorkerPool, a_streamed_copy_is_exact_at_every_alignment) {
  WorkerPool pool(3, affinity(), 200);
  std::vector<std::uint8_t> from(3 * kWorkerPieceBytes + 200);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i * 31 >> 3);
  for (std::size_t shift = 0; shift < 64; shift += 7) {
    std::vector<std::uint8_t> to(from.size() + 64, 0xEE);
    const std::size_t bytes = from.size() - shift;
    copy(&pool, to.data() + shift, from.data() + shift / 2, bytes, Store::Stream);
    EXPECT_TRUE(std::equal(to.begin() + static_cast<std::ptrdiff_t>(shift),
                           to.begin() + static_cast<std::ptrdiff_t>(shift + bytes),
                           from.begin() + static_cast<std::ptrdiff_t>(shift / 2)));
    EXPECT_TRUE(std::all_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(shift),
                            [](std::uint8_t each) { return each == 0xEE; }));
  }
}

}  // namespace
}  // namespace tutti::tests
