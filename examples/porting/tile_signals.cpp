// SPDX-License-Identifier: Apache-2.0
// Signals on a tensor's tile grid: one word a tile, and one word a tile for each PE that raises it
// (the seed's first index of a signal).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

#include "check.hpp"

namespace {

using tutti::Cmp;
using tutti::Update;

constexpr std::size_t kRows = 10, kColumns = 14;
constexpr std::size_t kTileRows = 4, kTileColumns = 6;  // the last ones are cut off
constexpr std::uint64_t kRounds = 3;

int value_of(int pe, std::uint64_t round, std::size_t row, std::size_t column) {
  return static_cast<int>(((static_cast<std::size_t>(pe) * 10 + round) * kRows + row) * kColumns +
                          column);
}

template <class Visit>
void for_each_tile(const tutti::ShmemTensor<int>& x, Visit visit) {
  for (std::size_t row = 0; row < kRows; row += kTileRows) {
    for (std::size_t column = 0; column < kColumns; column += kTileColumns) {
      visit(x.view({row, column},
                   {std::min(kTileRows, kRows - row), std::min(kTileColumns, kColumns - column)}));
    }
  }
}

/// Each tile is put and signalled by itself, and used as soon as its own word says so.
void one_word_a_tile(tutti::Team& world) {
  auto x = tutti::make_tensor<int>(world, {kRows, kColumns}, tutti::tile(kTileRows, kTileColumns),
                                   {.signals = tutti::signals::one});
  const int next = (world.pe() + 1) % world.size();
  const int last = (world.pe() + world.size() - 1) % world.size();
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    for_each_tile(x, [&](const tutti::View<int>& tile) {
      std::vector<int> values;
      for (std::size_t r = 0; r < tile.shape()[0]; ++r) {
        for (std::size_t c = 0; c < tile.shape()[1]; ++c) {
          values.push_back(
              value_of(world.pe(), round, tile.offsets()[0] + r, tile.offsets()[1] + c));
        }
      }
      tutti::put_signal(values, tile, next, round, Update::Set);
    });
    for_each_tile(x, [&](const tutti::View<int>& tile) {
      const auto seen = tutti::wait_until(tile, Cmp::Ge, round);
      for (std::size_t r = 0; r < seen.shape()[0]; ++r) {
        for (std::size_t c = 0; c < seen.shape()[1]; ++c) {
          expect_equal(seen(r, c),
                       value_of(last, round, tile.offsets()[0] + r, tile.offsets()[1] + c),
                       "in a tile");
        }
      }
    });
    world.barrier();  // everyone has read before the next round is put
  }
}

/// Every PE has a row of everyone's tensor and words of its own for it.
void words_per_source(tutti::Team& world) {
  auto x = tutti::make_tensor<int>(world, {world.size(), kColumns}, tutti::tile(1, kTileColumns),
                                   {.signals = tutti::signals::per_source});
  const std::vector<int> mine(kColumns, 7 * world.pe() + 1);
  const auto row_of = [&](int pe) { return x.view({pe, 0}, {1, kColumns}); };
  for (int pe = 0; pe < world.size(); ++pe) {
    tutti::put_signal(mine, row_of(world.pe()), pe, 1, Update::Set);
  }
  for (int source = 0; source < world.size(); ++source) {
    const auto seen = tutti::wait_until(row_of(source), source, Cmp::Eq, 1);
    for (const int value : seen.row(0)) expect_equal(value, 7 * source + 1, "in a row");
  }
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return tutti::launch(argc, argv, [](tutti::Team& world) {
    one_word_a_tile(world);
    words_per_source(world);
    if (world.pe() == 0) std::printf("tile signals: %d PEs, all values right\n", world.size());
  });
}
