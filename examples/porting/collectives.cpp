// SPDX-License-Identifier: Apache-2.0
// The seed's allgather and two-shot allreduce on the primitives. (A program would call
// tutti::allgather and tutti::allreduce, which are faster and promise the same bits on all PEs.)
#include <cstdint>
#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

#include "check.hpp"

namespace {

using tutti::bf16;
using tutti::Cmp;
using tutti::Update;

constexpr std::size_t kRows = 8, kValidRows = 5, kColumns = 32;
constexpr std::uint64_t kCalls = 4;

int value_of(int pe, std::uint64_t call, std::size_t i) {
  return static_cast<int>((static_cast<std::size_t>(pe) * 5 + call * 3 + i) % 11);
}

/// [kRows, c] of which kValidRows hold something -> [PEs * kValidRows, c], packed.
void allgather(tutti::Team& world) {
  const auto pes = static_cast<std::size_t>(world.size());
  auto gathered =
      tutti::make_tensor<int>(world, {pes, kRows, kColumns}, tutti::tile(1, kRows, kColumns),
                              {.signals = tutti::signals::one});
  const auto block_of = [&](std::size_t pe) {
    return gathered.view({pe, 0, 0}, {1, kRows, kColumns}, {1, kValidRows, kColumns});
  };
  const auto me = static_cast<std::size_t>(world.pe());
  for (std::uint64_t call = 1; call <= kCalls; ++call) {
    std::vector<int> in(kValidRows * kColumns);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = value_of(world.pe(), call, i);
    for (int pe = 0; pe < world.size(); ++pe) {
      tutti::put_signal(in, block_of(me), pe, call, Update::Set);  // publishes my block
    }
    std::vector<int> out;
    for (std::size_t pe = 0; pe < pes; ++pe) {
      const auto block = tutti::wait_until(block_of(pe), Cmp::Ge, call);
      for (std::size_t row = 0; row < kValidRows; ++row) {
        const auto columns = block.row(0, row);
        out.insert(out.end(), columns.begin(), columns.end());
      }
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto pe = static_cast<int>(i / in.size());
      expect_equal(out[i], value_of(pe, call, i % in.size()), "gathered " + std::to_string(i));
    }
    world.barrier();  // blocks are read before the next call writes to them
  }
}

/// 16-bit numbers in and out, summed in f32: PE d sums block d, and all fetch it from there. Small
/// integers here, so that the sums are exact in any order of arrival.
void two_shot_allreduce(tutti::Team& world) {
  const auto pes = static_cast<std::size_t>(world.size());
  const std::size_t block = kRows * kColumns;
  auto sums = tutti::make_tensor<float>(world, {kRows, kColumns});
  auto arrived = tutti::make_counters(world, pes);  // word d: at everyone, about block d
  for (std::uint64_t call = 1; call <= kCalls; ++call) {
    std::vector<bf16> x(pes * block);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = tutti::to_bf16(static_cast<float>(value_of(world.pe(), call, i)));
    }
    for (std::size_t d = 0; d < pes; ++d) {
      const tutti::Token put_out = tutti::put(std::span(x).subspan(d * block, block), sums,
                                              static_cast<int>(d), Update::Add);
      // Publishes my part of block d to all: after it has arrived at PE d.
      tutti::signal(arrived[d], tutti::kAllPes, 1, Update::Add, put_out);
    }
    for (std::size_t d = 0; d < pes; ++d) {
      const tutti::Token wait_out = tutti::wait_until(arrived[d], Cmp::Ge, call * pes);
      std::vector<float> sum(block);
      tutti::get(sums, static_cast<int>(d), sum, wait_out);
      for (std::size_t i = 0; i < block; ++i) x[d * block + i] = tutti::to_bf16(sum[i]);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      int expected = 0;
      for (int pe = 0; pe < world.size(); ++pe) expected += value_of(pe, call, i);
      expect_equal(tutti::to_float(x[i]), static_cast<float>(expected), "sum " + std::to_string(i));
    }
    world.barrier();  // everyone has fetched
    tutti::clear(sums);
    world.barrier();  // everyone has cleared
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tutti::launch(argc, argv, [](tutti::Team& world) {
    allgather(world);
    two_shot_allreduce(world);
    if (world.pe() == 0) std::printf("collectives: %d PEs, all values right\n", world.size());
  });
}
