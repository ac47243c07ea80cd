// SPDX-License-Identifier: Apache-2.0
// Reports from the field: inputs on which other libraries' collectives were wrong, on every
// algorithm of every registry. The page docs/field_reports.md has a row for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/collective_grid.hpp"
#include "support/environment.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

std::size_t wide(int value) { return static_cast<std::size_t>(value); }

void for_each_algorithm(const std::function<void(const Algorithm&)>& f) {
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Algorithm* algorithm : algorithms(static_cast<Collective>(c))) f(*algorithm);
  }
}

Cell cell_of(const Algorithm& algorithm, std::size_t count, DType dtype, bool in_place) {
  Cell cell{&algorithm, count};
  cell.dtype = dtype;
  cell.op = Op::Max;
  cell.memory =
      std::string_view(algorithm.name) == "symmetric_push" ? Memory::Symmetric : Memory::Private;
  cell.in_place = in_place;
  return cell;
}

class FieldCounts : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Pes, FieldCounts, testing::Values(3, 5, 6, 7, 8));

TEST_P(FieldCounts, around_the_number_of_pes_are_exact_for_every_root) {
  run_world(GetParam(), 0, [](Team& team) {
    std::size_t call = 0;
    std::size_t ran = 0;
    for_each_algorithm([&](const Algorithm& algorithm) {
      std::size_t n = 0;
      for (const std::size_t count : {1U, 2U, 5U, 9U, 13U, 4093U}) {
        const bool in_place = ++n % 2 == 0;
        const DType dtype = in_place ? DType::U8 : DType::I32;
        // Three calls each: the root of a broadcast moves on with every call.
        ran += check_cell(team, cell_of(algorithm, count, dtype, in_place), true, call) ? 1 : 0;
      }
    });
    EXPECT_GE(ran, 50U);
  });
}

bool has_chunks(const Algorithm& algorithm) {
  return std::ranges::any_of(algorithm.parameters, [](const Parameter& p) {
    return std::string_view(p.name) == "chunk_bytes";
  });
}

class FieldRace : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Points, FieldRace,
                         testing::Values("lane.begin", "lane.publish", "lane.publish_line",
                                         "lane.awaited"));

// One PE is late at one point of every call: before it arrives, before it publishes, between
// seeing its peers and reading from them. The others go on, and overwrite their inputs at once.
TEST_P(FieldRace, one_late_pe_takes_and_gives_what_belongs_to_its_call) {
  if (!kHasPoints) GTEST_SKIP() << "needs TUTTI_DELAY_POINTS";
  for (const int late : {0, 2}) {
    const ScopedVariable point("TUTTI_DELAY_AT",
                               std::string(GetParam()) + ":" + std::to_string(late) + ":1");
    run_world(3, 0, [](Team& team) {
      std::size_t call = 0;
      for_each_algorithm([&](const Algorithm& algorithm) {
        check_cell(team, cell_of(algorithm, 3, DType::I32, false), true, call);
        Cell wraps = cell_of(algorithm, 5001, DType::I32, false);
        if (has_chunks(algorithm)) wraps.parameters = ":ring_bytes=16K,chunk_bytes=2K";
        check_cell(team, wraps, true, call);
      });
    });
  }
}

/// Sleeps from 0 to `most_us` microseconds, in a pattern of this PE's own.
void dawdle(std::minstd_rand& random, unsigned most_us) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % most_us));
}

TEST(FieldRaceOrder, small_and_large_calls_in_any_order_keep_their_own_numbers) {
  run_world(3, 0, [](Team& team) {
    std::minstd_rand shared(11);
    std::minstd_rand mine(static_cast<unsigned>(team.pe()) + 1);
    const std::array<std::size_t, 9> first = {4, 4, 300'000, 4, 300'000, 4, 4, 4, 300'000};
    std::vector<int> data;
    for (std::size_t call = 0; call < wide(rounds(300, 2000)); ++call) {
      std::size_t count = shared() % 4 == 0 ? 30'000 : 4;
      if (call < first.size()) count = first[call];
      data.assign(count, static_cast<int>(call));
      if (call % 8 == 0) dawdle(mine, 1000);
      allreduce(team, data, Op::Sum);
      const auto wrong =
          std::ranges::find_if(data, [&](int each) { return each != 3 * static_cast<int>(call); });
      ASSERT_EQ(wrong - data.begin(), static_cast<std::ptrdiff_t>(count)) << "call " << call;
    }
  });
}

TEST(FieldRaceOrder, different_collectives_in_a_row_do_not_share_what_they_must_not) {
  run_world(4, 0, [](Team& team) {
    std::minstd_rand random(static_cast<unsigned>(team.pe()) + 1);
    for (int round = 0; round < rounds(100, 1000); ++round) {
      std::vector<int> all(64 * 4), sum(64, round), told(8, team.pe() == 1 ? round : -1);
      std::vector<int> parts(64 * 4, team.pe() + round), part(64);
      dawdle(random, 3000);
      allgather(team, std::vector<int>(64, round * 4 + team.pe()), all);
      dawdle(random, 1000);
      allreduce(team, sum, Op::Sum);
      broadcast(team, told, 1);
      dawdle(random, 1000);
      reduce_scatter(team, parts, part, Op::Sum);
      for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(all[i], round * 4 + static_cast<int>(i / 64));
      for (const int each : sum) ASSERT_EQ(each, 4 * round);
      for (const int each : told) ASSERT_EQ(each, round);
      for (const int each : part) ASSERT_EQ(each, 4 * round + 6);
    }
  });
}

TEST(FieldCollectives, nothing_from_null_pointers_is_a_call_like_any_other) {
  for (int pes = 1; pes <= 4; ++pes) {
    run_world(pes, 0, [](Team& team) {
      int* const null = nullptr;
      for (const std::size_t count : {0U, 5U, 0U, 0U, 5U}) {
        const std::size_t p = wide(team.size());
        std::vector<int> in(count * p, team.pe() + 1), out(count * p, -1);
        int* const from = count == 0 ? null : in.data();
        int* const to = count == 0 ? null : out.data();
        allreduce(team, from, to, count, Op::Sum);
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(out[i], team.size() * (team.size() + 1) / 2);
        allgather(team, std::span<const int>(from, count), std::span<int>(to, count * p));
        for (std::size_t i = 0; i < count * p; ++i)
          ASSERT_EQ(out[i], static_cast<int>(i / count) + 1);
        reduce_scatter(team, std::span<const int>(from, count * p), std::span<int>(to, count),
                       Op::Max);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], team.size());
        broadcast(team, std::span<int>(from, count), 0);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(in[i], 1);
      }
    });
  }
}

TEST(FieldCollectives,
     in_place_has_one_meaning_a_collective_and_other_overlaps_are_refused_by_all) {
  run_world(3, 0, [](Team& team) {
    std::vector<int> all(16, team.pe());
    const auto gather_from = [&](std::size_t at) {
      allgather(team, std::span<const int>(all).subspan(at, 4), std::span(all).first(12));
    };
    const std::size_t mine = wide(team.pe()) * 4;
    for (std::size_t i = 0; i < 4; ++i) all[mine + i] = 10 * team.pe() + static_cast<int>(i);
    gather_from(mine);
    for (int i = 0; i < 12; ++i) ASSERT_EQ(all[wide(i)], 10 * (i / 4) + i % 4);
    expect_refused([&] { gather_from(mine + 1); }, "overlaps out [");
    expect_refused([&] { gather_from((mine + 4) % 12); }, "overlaps out [");
    const std::span<int> s(all);
    expect_refused([&] { allreduce(team, s.first(8), s.subspan(1, 8), Op::Sum); },
                   "overlaps out [");
    expect_refused([&] { reduce_scatter(team, s.first(12), s.subspan(mine + 1, 4), Op::Sum); },
                   "overlaps in [");
    team.barrier();  // refused by all: the team goes on
  });
}

/// Values whose sum depends on the order of additions.
std::vector<float> hard_values(int pe, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(pe) + 39);
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto exponent = static_cast<int>(random() % 40) - 20;
    data[i] = std::ldexp(static_cast<float>(random() % 1000) - 499.5F, exponent);
    if (i % 7 == 0) data[i] = pe % 2 == 0 ? (pe % 4 == 0 ? 1e8F : -1e8F) : 1.0F;
  }
  return data;
}

template <class T>
T narrowed(float value) {
  if constexpr (std::is_same_v<T, float>) return value;
  if constexpr (std::is_same_v<T, bf16>) return to_bf16(value);
  if constexpr (std::is_same_v<T, f16>) return to_f16(value);
}

/// The sum of hard values by `call`, compared bit for bit between the PEs.
template <class T>
void expect_equal_bits(Team& team, std::size_t count, const Call& call) {
  const std::vector<float> values = hard_values(team.pe(), count);
  std::vector<T> data;
  for (const float value : values) data.push_back(narrowed<T>(value));
  allreduce(team, data, Op::Sum, call);
  const std::size_t bytes = count * sizeof(T);
  std::vector<std::uint8_t> mine(bytes), all(bytes * wide(team.size()));
  std::memcpy(mine.data(), data.data(), bytes);
  allgather(team, mine, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i], mine[i % bytes]) << call.algorithm << ", PE " << i / bytes;
  }
}

TEST(FieldNumbers, all_pes_have_the_same_bits_whoever_is_late) {
  const ScopedVariable late("TUTTI_DELAY", "39:100");
  for (const int pes : {3, 4, 5, 8}) {
    run_world(pes, 0, [](Team& team) {
      for (int repeat = 0; repeat < rounds(2, 20); ++repeat) {
        for (const Algorithm* algorithm : algorithms(Collective::Allreduce)) {
          const std::string name = algorithm->name;
          const std::size_t count = name == "one_line" ? 7 : 1000;
          Problem problem;
          problem.pes = team.size();
          problem.count = count;
          if (algorithm->supports(problem) != nullptr) continue;
          expect_equal_bits<float>(team, count, {.algorithm = name});
          expect_equal_bits<bf16>(team, count, {.algorithm = name});
        }
      }
    });
  }
}

/// What PE `pe` adds to element `i`: ties, overflow, subnormals, then any pattern that is finite.
std::uint16_t half_bits(int pe, std::size_t i, bool brain) {
  static constexpr std::array<std::array<float, 2>, 5> kPairs = {
      {{256, 1}, {256, 3}, {65504, 65504}, {2048, 1}, {2048, 3}}};
  if (i < kPairs.size()) {
    const float value = pe < 2 ? kPairs[i][wide(pe)] : 0.0F;
    return brain ? to_bf16(value).bits : to_f16(value).bits;
  }
  if (i < 8) return static_cast<std::uint16_t>(pe + 1);  // the smallest subnormals
  const auto bits = static_cast<std::uint16_t>((i * 2654435761U + wide(pe) * 40503U) >> 7);
  const std::uint16_t exponent = brain ? 0x7F80 : 0x7C00;
  return (bits & exponent) == exponent ? static_cast<std::uint16_t>(bits & 0x83FF) : bits;
}

template <class T>
void expect_rounded_once(Team& team, std::size_t count) {
  constexpr bool kBrain = std::is_same_v<T, bf16>;
  std::vector<T> in(count), out(count);
  for (std::size_t i = 0; i < count; ++i) in[i].bits = half_bits(team.pe(), i, kBrain);
  allreduce(team, in, out, Op::Sum, {.contract = Contract::Ordered});
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int pe = 0; pe < team.size(); ++pe) {
      T part{};
      part.bits = half_bits(pe, i, kBrain);
      sum = pe == 0 ? to_float(part) : sum + to_float(part);
    }
    ASSERT_EQ(out[i].bits, narrowed<T>(sum).bits) << "element " << i << ", sum " << sum;
  }
}

TEST(FieldNumbers, ordered_sums_of_halves_are_folded_in_f32_and_rounded_once) {
  for (const int pes : {2, 4}) {
    run_world(pes, 0, [](Team& team) {
      expect_rounded_once<f16>(team, 100'003);
      expect_rounded_once<bf16>(team, 100'003);
    });
  }
}

template <class T>
void expect_exact_at_odd_addresses(Team& team, std::size_t count) {
  std::vector<T> in(count + 2, narrowed<T>(77)), out(count + 4, narrowed<T>(-3));
  for (std::size_t i = 0; i < count; ++i) {
    in[i + 1] = narrowed<T>(static_cast<float>(team.pe() + static_cast<int>(i % 50)));
  }
  allreduce(team, std::span(in).subspan(1, count), std::span(out).subspan(3, count), Op::Sum);
  for (std::size_t i = 0; i < count; ++i) {
    const T expected = narrowed<T>(static_cast<float>(3 + 3 * static_cast<int>(i % 50)));
    ASSERT_TRUE(out[i + 3] == expected) << count << " elements, element " << i;
  }
  ASSERT_TRUE(out[2] == narrowed<T>(-3) && out[count + 3] == narrowed<T>(-3)) << count;
}

TEST(FieldNumbers, buffers_that_are_shifted_against_each_other_are_exact_at_every_length) {
  run_world(3, 0, [](Team& team) {
    for (std::size_t count = 1; count <= 130; ++count) {
      expect_exact_at_odd_addresses<float>(team, count);
      expect_exact_at_odd_addresses<f16>(team, count);
      std::vector<std::uint8_t> all(3 * 13);
      const auto mine = std::span(all).subspan(wide(team.pe()) * 13, 13);
      std::ranges::fill(mine, static_cast<std::uint8_t>(count + wide(team.pe())));
      allgather(team, mine, all);
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], (count + i / 13) % 256);
    }
  });
}

}  // namespace
}  // namespace tutti::tests
