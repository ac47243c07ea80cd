// SPDX-License-Identifier: Apache-2.0
// A pipeline over tiles: PE p works on a tile as soon as PE p - 1 has sent it, while that one works
// on the next. The same loop with one step for all tiles is the program without a pipeline; both
// times are printed. With a CPU for each PE the pipelined one takes about 1/PEs of the other.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

#include "check.hpp"

namespace {

using tutti::Cmp;
using tutti::Update;

constexpr std::size_t kRows = 128, kColumns = 1024;
constexpr std::size_t kTileRows = 4;
constexpr int kWork = 50;  // steps for each element
constexpr std::uint64_t kRounds = 10;

/// What PE `pe` makes of an element.
std::uint32_t stage(std::uint32_t x, int pe) {
  for (int i = 0; i < kWork; ++i) x = x * 1664525 + 1013904223 + static_cast<std::uint32_t>(pe);
  return x;
}

std::uint32_t input(std::uint64_t round, std::size_t i) {
  return static_cast<std::uint32_t>(round * 1000003 + i);
}

/// One pass of all rows through all PEs, `rows` at a time. Returns the last PE's result.
std::vector<std::uint32_t> pass(tutti::Team& world, tutti::ShmemTensor<std::uint32_t>& x,
                                std::size_t rows, std::uint64_t round) {
  const bool is_last = world.pe() == world.size() - 1;
  std::vector<std::uint32_t> all(is_last ? kRows * kColumns : 0);
  std::vector<std::uint32_t> out(rows * kColumns);
  for (std::size_t row = 0; row < kRows; row += rows) {
    const auto tiles = x.view({row, 0}, {rows, kColumns});
    if (world.pe() == 0) {
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = stage(input(round, row * kColumns + i), 0);
    } else {
      const auto in = tutti::wait_until(tiles, Cmp::Ge, round).span();  // read where it arrived
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = stage(in[i], world.pe());
    }
    if (is_last) {
      std::ranges::copy(out, all.begin() + static_cast<std::ptrdiff_t>(row * kColumns));
    } else {
      const tutti::Token stored = tutti::put(out, tiles, world.pe() + 1, Update::Set);
      tutti::signal(tiles, world.pe() + 1, round, Update::Set, stored);  // these tiles are there
    }
  }
  return all;
}

/// The same by one PE alone.
void check(const std::vector<std::uint32_t>& got, std::uint64_t round, int pes) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::uint32_t x = input(round, i);
    for (int pe = 0; pe < pes; ++pe) x = stage(x, pe);
    expect_equal(got[i], x, "element " + std::to_string(i) + " of round " + std::to_string(round));
  }
}

void compare(tutti::Team& world) {
  using Clock = std::chrono::steady_clock;
  auto x = tutti::make_tensor<std::uint32_t>(
      world, {kRows, kColumns}, tutti::tile(kTileRows, kColumns), {.signals = tutti::signals::one});
  std::vector<double> times_us[2];  // without a pipeline, with one
  for (std::uint64_t round = 1; round <= 2 * kRounds; ++round) {
    const bool pipelined = round % 2 == 0;
    world.barrier();
    const auto start = Clock::now();
    const auto result = pass(world, x, pipelined ? kTileRows : kRows, round);
    world.barrier();
    times_us[pipelined ? 1 : 0].push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    if (round + 2 > 2 * kRounds) check(result, round, world.size());
  }
  if (world.pe() != 0) return;
  for (auto& times : times_us) std::ranges::sort(times);
  const double whole = times_us[0][kRounds / 2], tiled = times_us[1][kRounds / 2];
  std::printf("pipeline: %d PEs, unpipelined %.0f us, pipelined in %zu tiles %.0f us: %.2f times\n",
              world.size(), whole, kRows / kTileRows, tiled, whole / tiled);
}

}  // namespace

int main(int argc, char** argv) { return tutti::launch(argc, argv, compare); }
