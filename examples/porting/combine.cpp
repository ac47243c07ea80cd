// SPDX-License-Identifier: Apache-2.0
// The seed's combine example, step by step on the primitives: expert outputs go back to the PEs of
// their tokens, which sum them with the router's weights. (A program would call
// moe::Plan::combine.)
#include <array>
#include <cstdint>
#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

#include "check.hpp"

namespace {

using tutti::bf16;
using tutti::Cmp;
using tutti::Update;

constexpr std::size_t kTokens = 8, kTopk = 4, kHidden = 96;
constexpr int kExpertsPerPe = 4;
constexpr std::uint64_t kCalls = 3;

std::uint32_t noise(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t hash = a * 0x9e3779b9U ^ b * 0x85ebca6bU ^ c * 0xc2b2ae35U;
  hash = (hash ^ hash >> 15) * 0x2c1b3c6dU;
  return hash ^ hash >> 13;
}
std::uint32_t narrow(std::size_t value) { return static_cast<std::uint32_t>(value); }

/// The router: K experts for each token, and how many tokens of a PE are active (the first ones).
int expert_of(int pe, std::size_t token, std::size_t k, int experts) {
  const std::uint32_t first = noise(narrow(static_cast<std::size_t>(pe)), narrow(token), 1);
  return static_cast<int>((first + k) % static_cast<std::uint32_t>(experts));
}
float scale_of(int pe, std::size_t token, std::size_t k) {
  return static_cast<float>(noise(static_cast<std::uint32_t>(pe), narrow(token), narrow(k)) % 997) /
         997.0F;
}
std::size_t active_tokens(int pe) { return kTokens - static_cast<std::size_t>(pe) % 3; }

/// The output of token (pe, token)'s k-th expert.
bf16 output_of(std::uint64_t call, int pe, std::size_t token, std::size_t k, std::size_t h) {
  const std::uint32_t row = narrow((static_cast<std::size_t>(pe) * kTokens + token) * kTopk + k);
  const std::uint32_t hash = noise(row, narrow(h), narrow(call));
  return tutti::to_bf16(static_cast<float>(static_cast<int>(hash % 2001) - 1000) / 64.0F);
}

/// What a dispatch has left on this PE: rows by local expert, source PE, token, k.
struct Dispatched {
  std::vector<bf16> expand_x;                               // [recv_counts, H] after the experts
  std::vector<std::array<int, 3>> assist_info_for_combine;  // [recv_counts]: rank, token, k
};
Dispatched dispatched(const tutti::Team& world, std::uint64_t call) {
  Dispatched result;
  for (int local = 0; local < kExpertsPerPe; ++local) {
    for (int pe = 0; pe < world.size(); ++pe) {
      for (std::size_t at = 0; at < active_tokens(pe) * kTopk; ++at) {
        const std::size_t token = at / kTopk, k = at % kTopk;
        const int expert = expert_of(pe, token, k, world.size() * kExpertsPerPe);
        if (expert != world.pe() * kExpertsPerPe + local) continue;
        result.assist_info_for_combine.push_back(
            {pe, static_cast<int>(token), static_cast<int>(k)});
        for (std::size_t h = 0; h < kHidden; ++h) {
          result.expand_x.push_back(output_of(call, pe, token, k, h));
        }
      }
    }
  }
  return result;
}

/// Step 1 of 2: each row goes to the place (token, k) of its token's PE, and is counted there.
void send(const tutti::ShmemTensor<bf16>& buffer, const Dispatched& rows) {
  for (std::size_t i = 0; i < rows.assist_info_for_combine.size(); ++i) {
    const auto& [rank, token, k] = rows.assist_info_for_combine[i];
    const std::span<const bf16> row(rows.expand_x.data() + i * kHidden, kHidden);
    const tutti::Token put_out =
        tutti::put(row, buffer.view({token, k, 0}, {1, 1, kHidden}), rank, Update::Set);
    // Publishes this row: one of the K that the token waits for.
    tutti::signal(buffer.view({token, 0, 0}, {1, kTopk, kHidden}), rank, 1, Update::Add, put_out);
  }
}

/// Step 2 of 2: a token whose K rows are there is summed, read where they lie. The words grow, K a
/// call: no clear, and nothing to overshoot.
void sum(const tutti::ShmemTensor<bf16>& buffer, int me, std::uint64_t call,
         std::vector<bf16>& out) {
  for (std::size_t token = 0; token < active_tokens(me); ++token) {
    const auto tile = buffer.view({token, 0, 0}, {1, kTopk, kHidden});
    const auto rows = tutti::wait_until(tile, Cmp::Ge, call * kTopk);
    for (std::size_t h = 0; h < kHidden; ++h) {
      float total = 0;
      for (std::size_t k = 0; k < kTopk; ++k) {
        total += scale_of(me, token, k) * tutti::to_float(rows(0, k, h));
      }
      out[token * kHidden + h] = tutti::to_bf16(total);  // one rounding
    }
  }
}

/// The same by this PE alone, bit for bit; rows of inactive tokens are not written.
void check(int me, std::uint64_t call, const std::vector<bf16>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t token = i / kHidden, h = i % kHidden;
    float total = 0;
    for (std::size_t k = 0; token < active_tokens(me) && k < kTopk; ++k) {
      total += scale_of(me, token, k) * tutti::to_float(output_of(call, me, token, k, h));
    }
    expect_equal<int>(out[i].bits, tutti::to_bf16(total).bits,
                      "bits of token " + std::to_string(token) + ", element " + std::to_string(h));
  }
}

void combine(tutti::Team& world) {
  auto buffer =
      tutti::make_tensor<bf16>(world, {kTokens, kTopk, kHidden}, tutti::tile(1, kTopk, kHidden),
                               {.signals = tutti::signals::one});
  for (std::uint64_t call = 1; call <= kCalls; ++call) {
    std::vector<bf16> out(kTokens * kHidden);
    send(buffer, dispatched(world, call));
    sum(buffer, world.pe(), call, out);
    check(world.pe(), call, out);
    world.barrier();  // the buffer is read before the next call writes to it
  }
  if (world.pe() == 0) std::printf("combine: %d PEs, the bits of one PE alone\n", world.size());
}

}  // namespace

int main(int argc, char** argv) { return tutti::launch(argc, argv, combine); }
