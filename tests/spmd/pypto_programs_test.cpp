// SPDX-License-Identifier: Apache-2.0
// The seed's own programs, step by step as it documents them, under its names.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/pypto.hpp"

namespace tutti::tests {
namespace {

using namespace tutti::pypto;

constexpr int kCalls = 6;

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(value); }
int value_of(int pe, int call, std::size_t i) {
  return static_cast<int>((wide(pe) * 5 + wide(call) * 3 + i) % 11);
}

/// Worlds of 2 to 4 PEs, each by load and store and over the loopback transport.
void in_worlds(const std::function<void(Team&)>& body) {
  for (int pes = 2; pes <= 4; ++pes) {
    for (std::uint64_t seed = 0; seed <= 2; ++seed) run_world(pes, seed, body);
  }
}

/// One PE, another in each call, begins late.
void be_late(const Team& team, int call) {
  for (int i = 0; call % team.size() == team.pe() && i < 50; ++i) std::this_thread::yield();
}

TEST(PyptoPrograms, allgather_of_valid_rows_by_set_equal_and_clear) {
  in_worlds([](Team& team) {
    const int pes = team.size();
    constexpr int kRows = 4, kValid = 3, kColumns = 10;
    auto gathered = create_shmem_tensor<int>(team, {pes * kRows, kColumns}, tile(2, 5));
    const auto block_of = [&](int pe) {
      return shmem_view(gathered, {kRows, kColumns}, {pe * kRows, 0}, {kValid, kColumns});
    };
    for (int call = 0; call < kCalls; ++call) {
      be_late(team, call);
      std::vector<int> in(kValid * kColumns);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = value_of(team.pe(), call, i);
      const auto mine = block_of(team.pe());
      for (int pe = 0; pe < pes; ++pe) {
        const Token put_out = shmem_put(in, mine, pe, Update::Set);
        shmem_signal(mine, team.pe(), 1, pe, Update::Set, put_out);
      }
      for (int pe = 0; pe < pes; ++pe) {
        const auto block = block_of(pe);
        const Token wait_out = shmem_wait_until(block, pe, Cmp::Eq, 1, ClearSignal::Yes);
        const std::vector<int> out = shmem_get(block, team.pe(), wait_out);
        for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], value_of(pe, call, i));
      }
      shmem_barrier_all(gathered);
    }
  });
}

TEST(PyptoPrograms, two_shot_allreduce_of_bf16_in_f32_with_a_namespace_for_each_owner) {
  in_worlds([](Team& team) {
    const int pes = team.size();
    constexpr std::size_t kBlock = 4 * 6;
    auto sums = create_shmem_tensor<float>(team, {4, 6}, tile(2, 6));
    for (int call = 0; call < kCalls; ++call) {
      be_late(team, call);
      std::vector<bf16> in(kBlock * wide(pes));
      for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = to_bf16(static_cast<float>(value_of(team.pe(), call, i)));
      }
      for (int d = 0; d < pes; ++d) {
        const auto part = std::span(in).subspan(wide(d) * kBlock, kBlock);
        const Token put_out = shmem_put(part, sums, d, Update::Add);
        shmem_signal(sums, d, 1, kAllPes, Update::Add, put_out);
      }
      for (int d = 0; d < pes; ++d) {
        const Token wait_out = shmem_wait_until(sums, d, Cmp::Eq, wide(pes), ClearSignal::Yes);
        const std::vector<bf16> out = shmem_get<bf16>(sums, d, wait_out);
        for (std::size_t i = 0; i < kBlock; ++i) {
          int expected = 0;
          for (int pe = 0; pe < pes; ++pe) expected += value_of(pe, call, wide(d) * kBlock + i);
          ASSERT_EQ(to_float(out[i]), static_cast<float>(expected)) << "block " << d;
        }
      }
      shmem_barrier_all(sums);  // everyone has fetched
      shmem_clear_data(sums);
      shmem_barrier_all(sums);  // everyone has cleared
    }
  });
}

constexpr int kTokens = 5, kTopk = 3, kHidden = 16;

float scale_of(int pe, int token, int k) {
  return static_cast<float>(1 + (pe + token * 2 + k) % 5) / 7;
}
bf16 output_of(int pe, int token, int k, int call, std::size_t h) {
  return to_bf16(static_cast<float>(value_of(pe + token, call + k, h)) / 3);
}
/// The PE of the k-th expert of a token.
int place_of(int pe, int token, int k, int pes) { return (pe * 2 + token + k * 3) % pes; }

/// Each row to its place at its token's PE, and one more in the token's slot there.
void send_rows(const Team& team, const Tensor<bf16>& buffer, int call) {
  for (int i = 0; i < team.size() * kTokens * kTopk; ++i) {
    const int pe = i / (kTokens * kTopk), token = i / kTopk % kTokens, k = i % kTopk;
    if (place_of(pe, token, k, team.size()) != team.pe()) continue;
    std::vector<bf16> row(kHidden);
    for (std::size_t h = 0; h < kHidden; ++h) row[h] = output_of(pe, token, k, call, h);
    const auto place = shmem_view(buffer, {1, kHidden}, {kTopk * token + k, 0});
    const Token put_out = shmem_put(row, place, pe, Update::Set);
    shmem_signal(shmem_view(buffer, {1, kHidden}, {token, 0}), 0, 1, pe, Update::Add, put_out);
  }
}

TEST(PyptoPrograms, combine_counts_the_rows_of_a_token_and_sums_them_where_they_lie) {
  in_worlds([](Team& team) {
    auto buffer = create_shmem_tensor<bf16>(team, {kTopk * kTokens, kHidden}, tile(1, kHidden));
    for (int call = 0; call < kCalls; ++call) {
      be_late(team, call);
      send_rows(team, buffer, call);
      for (int token = 0; token < kTokens; ++token) {
        const auto slot = shmem_view(buffer, {1, kHidden}, {token, 0});
        const Token wait_out = shmem_wait_until(slot, 0, Cmp::Eq, kTopk, ClearSignal::Yes);
        const auto rows = shmem_load(shmem_view(buffer, {kTopk, kHidden}, {kTopk * token, 0}),
                                     team.pe(), wait_out);
        EXPECT_FALSE(rows.copied());
        for (std::size_t h = 0; h < kHidden; ++h) {
          float sum = 0, expected = 0;
          for (int k = 0; k < kTopk; ++k) {
            sum += scale_of(team.pe(), token, k) * to_float(rows(k, h));
            expected +=
                scale_of(team.pe(), token, k) * to_float(output_of(team.pe(), token, k, call, h));
          }
          ASSERT_EQ(to_bf16(sum), to_bf16(expected)) << "token " << token << ", element " << h;
        }
      }
      shmem_barrier_all(buffer);  // read, before the next call writes
    }
  });
}

}  // namespace
}  // namespace tutti::tests
