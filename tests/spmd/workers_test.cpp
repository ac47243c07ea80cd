// SPDX-License-Identifier: Apache-2.0
// Threads that share the copying and folding of one PE (`Options::workers`).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "support/environment.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;  // bytes: eight pieces are worth a worker each

std::size_t threads_of_process() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Before anything is counted: a sanitizer has a thread of its own from the first one on.
std::size_t threads_at_rest() {
  std::thread([] {}).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return threads_of_process();
}

/// The kernel lets go of a thread a little after it was joined.
std::size_t threads_in_the_end(std::size_t expected) {
  for (int i = 0; i < 1000 && threads_of_process() != expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return threads_of_process();
}

/// Any bits: of floats also NaN, infinities and denormals.
std::vector<std::byte> any_bits(int pe, std::size_t bytes) {
  std::mt19937_64 random(static_cast<unsigned>(pe) + 1);
  std::vector<std::byte> data(bytes);
  for (std::size_t at = 0; at + 8 <= bytes; at += 8) {
    const std::uint64_t bits = random();
    std::memcpy(data.data() + at, &bits, sizeof bits);
  }
  return data;
}

std::uint64_t hash_of(std::span<const std::byte> data) {
  std::uint64_t hash = 1469598103934665603u;
  for (std::size_t at = 0; at + 8 <= data.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + at, sizeof word);
    hash = (hash ^ word) * 1099511628211u;
  }
  return hash;
}

bool defined(DType type, Op op) { return op < Op::And || is_integer(type); }

/// The hashes of one PE's results over types, operations, stores, sizes and offsets.
std::vector<std::uint64_t> hashes_of(Team& team) {
  std::vector<std::uint64_t> hashes;
  const auto in = any_bits(team.pe(), 2 * kLarge);
  std::vector<std::byte> out(2 * kLarge);
  std::size_t odd = 0;
  for (std::size_t t = 0; t < kDTypes; ++t) {
    for (std::size_t o = 0; o < kOps; ++o) {
      const auto [type, op] = std::pair(static_cast<DType>(t), static_cast<Op>(o));
      if (!defined(type, op)) continue;
      // An odd count; both buffers at any multiple of the element.
      const std::size_t element = size_of(type);
      const std::size_t count = (kLarge + 4096) / element + 2 * odd + 1;
      const std::size_t shift = odd % 7 * element;
      const detail::Buffers buffers{in.data() + shift, out.data() + (3 * shift) % 11 * element,
                                    count, count, type};
      const std::string store = odd++ % 2 == 0 ? ",store=stream" : ",store=cached";
      std::ranges::fill(out, std::byte{0});
      detail::allreduce(team, buffers, op,
                        {.algorithm = "one_shot:chunk_bytes=1M,ring_bytes=4M" + store});
      hashes.push_back(hash_of(out));
      detail::allreduce(team, buffers, op,
                        {.algorithm = "two_shot:chunk_bytes=1M,ring_bytes=8M" + store,
                         .contract = Contract::Ordered});
      hashes.push_back(hash_of(out));
    }
  }
  return hashes;
}

TEST(Workers, results_have_the_same_bits_for_any_number_of_workers) {
  std::array<std::vector<std::uint64_t>, 2> alone;
  for (const int workers : {1, 2, 3, 4}) {
    run(2,
        [&](Team& team) {
          EXPECT_EQ(team.workers(), workers);
          const auto hashes = hashes_of(team);
          auto& expected = alone[static_cast<std::size_t>(team.pe())];
          if (workers == 1) expected = hashes;
          ASSERT_EQ(hashes, expected) << "PE " << team.pe() << ", " << workers << " workers";
        },
        {.workers = workers});
  }
}

TEST(Workers, copies_of_any_length_and_alignment_are_exact_and_stay_in_their_bounds) {
  run(2,
      [](Team& team) {
        for (const std::size_t extra : {0, 1, 63, 64, 65, 4095}) {
          const std::size_t count = kLarge + extra;
          const auto expected = any_bits(0, count + 8);
          const auto guard = std::byte{0x5A};
          std::vector<std::byte> data(count + 128, guard);
          const std::size_t shift = 1 + extra % 7;
          const auto mine = std::span(data).subspan(shift, count);
          if (team.pe() == 0) std::ranges::copy(std::span(expected).first(count), mine.begin());
          detail::Buffers buffers{mine.data(), mine.data(), count, count, DType::U8};
          detail::broadcast(team, buffers, 0, {.algorithm = "flat:chunk_bytes=1M,ring_bytes=4M"});
          ASSERT_EQ(std::memcmp(mine.data(), expected.data(), count), 0) << extra;
          for (std::size_t i = 0; i < data.size(); ++i) {
            if (i >= shift && i < shift + count) continue;
            ASSERT_EQ(data[i], guard) << i;
          }
        }
      },
      {.workers = 4});
}

TEST(Workers, threads_start_at_the_first_large_piece_and_end_with_the_world) {
  const std::size_t before = threads_at_rest();
  for (const int workers : {1, 3}) {
    run(2,
        [&](Team& team) {
          const auto all = [&] {
            team.barrier();
            const std::size_t now = threads_of_process() - before;
            team.barrier();
            return now;
          };
          std::vector<float> data(kLarge / sizeof(float), 1);
          allreduce(team, std::span(data).first(1000), Op::Sum);
          EXPECT_EQ(all(), 2U);
          const Call call{.algorithm = "one_shot:chunk_bytes=1M,ring_bytes=4M"};
          for (int i = 0; i < 3; ++i) allreduce(team, data, Op::Sum, call);
          EXPECT_EQ(all(), 2U * static_cast<std::size_t>(workers));
        },
        {.workers = workers});
    EXPECT_EQ(threads_in_the_end(before), before);
  }
}

TEST(Workers, a_team_of_one_pe_copies_with_its_workers) {
  const std::size_t before = threads_at_rest();
  run(1,
      [&](Team& team) {
        const std::vector<float> in(kLarge, 3);
        std::vector<float> out(kLarge);
        allreduce(team, in, out, Op::Sum);
        EXPECT_EQ(out, in);
        EXPECT_EQ(threads_of_process() - before, 2U);
      },
      {.workers = 2});
}

#if defined(__SSE2__)
TEST(Workers, workers_treat_denormals_as_the_caller_does) {
  for (const bool flush : {false, true, false}) {
    run(2,
        [&](Team& team) {
          std::vector<float> data(kLarge, 1e-40F);
          const Call call{.algorithm = "one_shot:chunk_bytes=1M,ring_bytes=4M"};
          allreduce(team, std::span(data), Op::Max, call);  // the workers are there from now on
          const unsigned saved = _mm_getcsr();
          if (flush) _mm_setcsr(saved | 0x8040);
          allreduce(team, data, Op::Sum, call);
          _mm_setcsr(saved);
          std::size_t kept = 0;
          for (const float each : data) kept += each != 0 ? 1 : 0;
          EXPECT_EQ(kept, flush ? 0U : kLarge);
        },
        {.workers = 3});
  }
}
#endif

TEST(Workers, two_threads_of_a_pe_may_drive_two_lanes_at_the_same_time) {
  run(2,
      [](Team& team) {
        const auto drive = [](Team team_of_thread, int lane) {
          for (int round = 0; round < 20; ++round) {
            std::vector<int> data(kLarge / sizeof(int), team_of_thread.pe() + lane + round);
            allreduce(team_of_thread, data, Op::Sum,
                      {.algorithm = "one_shot:chunk_bytes=1M,ring_bytes=4M", .lane = lane});
            const std::vector<int> expected(data.size(), 1 + 2 * (lane + round));
            ASSERT_EQ(data, expected) << "lane " << lane << ", round " << round;
          }
        };
        std::jthread other(drive, team, 1);
        drive(team, 2);
      },
      {.workers = 3});
}

TEST(Workers, started_operations_share_their_work_too) {
  run(3,
      [](Team& team) {
        std::vector<std::vector<int>> data(4, std::vector<int>(kLarge / sizeof(int)));
        std::vector<Request> requests;
        for (auto& each : data) {
          std::ranges::fill(each, team.pe() + 1);
          requests.push_back(start_allreduce(team, each, Op::Sum));
        }
        for (int i = 0; i < 4; ++i) {
          requests[static_cast<std::size_t>((i + team.pe()) % 4)].finish();
        }
        for (const auto& each : data) EXPECT_THAT(each, ::testing::Each(6));
      },
      {.workers = 2});
}

TEST(Workers, a_pe_that_fails_leaves_no_thread_behind_and_nobody_waiting) {
  const std::size_t before = threads_at_rest();
  const auto body = [](Team& team) {
    std::vector<float> data(kLarge, 1);
    allreduce(team, data, Op::Sum);
    if (team.pe() == 1) throw std::runtime_error("PE 1 has had enough");
    allreduce(team, data, Op::Sum);
  };
  EXPECT_THROW(run(3, body, {.workers = 3}), std::runtime_error);
  EXPECT_EQ(threads_in_the_end(before), before);
}

TEST(Workers, a_forked_child_drops_its_copies_without_waiting_for_threads_it_does_not_have) {
  run(1,
      [](Team& team) {
        std::vector<float> data(kLarge, 1);
        std::vector<float> out(kLarge);
        allreduce(team, data, out, Op::Sum);
        // A team of its own world, which the child's copy ends.
        auto own = std::make_unique<Team>(from_bootstrap(
            0, 1,
            [](const void* mine, std::size_t bytes, void* all) { std::memcpy(all, mine, bytes); },
            {.workers = 2}));
        allreduce(*own, data, out, Op::Sum);
        const pid_t child = fork();
        if (child == 0) {
          alarm(20);
          own.reset();
          _exit(7);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 7);
        allreduce(*own, data, out, Op::Sum);
        EXPECT_EQ(out, data);
      },
      {.workers = 2});
}

TEST(Workers, the_environment_beats_the_option) {
  const ScopedVariable three("TUTTI_WORKERS", "3");
  run(2, [](Team& team) { EXPECT_EQ(team.workers(), 3); }, {.workers = 2});
}

TEST(Workers, numbers_that_are_not_1_to_64_are_refused_with_value_and_range) {
  for (const int workers : {0, -1, 65}) {
    expect_refused(
        [&] { run(2, [](Team&) { FAIL(); }, {.workers = workers}); },
        "Options::workers is " + std::to_string(workers) + "; allowed are numbers from 1 to 64");
  }
  for (const std::string value : {"0", "65", "-2", "two", "2 ", "2.5", "99999999999"}) {
    const ScopedVariable variable("TUTTI_WORKERS", value);
    expect_refused([] { run(2, [](Team&) { FAIL(); }); },
                   "TUTTI_WORKERS is '" + value + "'; allowed are numbers from 1 to 64");
  }
}

TEST(Workers, a_refused_number_ends_the_program_with_code_2) {
  const ScopedVariable variable("TUTTI_WORKERS", "many");
  const ScopedVariable pes("TUTTI_PES", "2");
  EXPECT_EQ(launch(0, nullptr, [](Team&) { FAIL(); }), 2);
}

}  // namespace
}  // namespace tutti::tests
