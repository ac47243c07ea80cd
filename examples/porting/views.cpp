// SPDX-License-Identifier: Apache-2.0
// Views: put SET and ADD, get, clear, and views as operands (the seed's shmem_view with valid
// shape, shmem_put, shmem_get, shmem_clear_data, shmem_load, shmem_store).
#include <cstdio>
#include <numeric>
#include <tutti/tutti.hpp>
#include <vector>

#include "check.hpp"

namespace {

using tutti::Update;

int value_of(int pe, std::size_t i) { return 1000 * (pe + 1) + static_cast<int>(i); }
int next(const tutti::Team& world) { return (world.pe() + 1) % world.size(); }
int last(const tutti::Team& world) { return (world.pe() + world.size() - 1) % world.size(); }

/// Of a view of [8, 32], only the valid [5, 20] move.
void valid_part(tutti::Team& world) {
  auto x = tutti::make_tensor<int>(world, {16, 64});
  const auto block = x.view({4, 16}, {8, 32}, {5, 20});
  std::vector<int> mine(block.size());  // 5 * 20, packed
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = value_of(world.pe(), i);

  const tutti::Token put_out = tutti::put(mine, block, next(world), Update::Set);
  std::vector<int> back(block.size());
  tutti::get(block, next(world), back, put_out);  // from there, after it has arrived there
  for (std::size_t i = 0; i < mine.size(); ++i) expect_equal(back[i], mine[i], "got back");

  world.barrier();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / 64 - 4, column = i % 64 - 16;  // wrap around in front of the block
    const bool inside = row < 5 && column < 20;
    expect_equal(x.local()[i], inside ? value_of(last(world), row * 20 + column) : 0,
                 "element " + std::to_string(i));
  }
  tutti::clear(x.view({4, 0}, {1, 64}));  // in my own instance
  expect_equal(x.local()[4 * 64 + 16], 0, "cleared");
  expect_equal(x.local()[5 * 64 + 16], value_of(last(world), 20), "not cleared");
  world.barrier();
}

/// All PEs add rows of 16-bit numbers to one f32 row of every PE.
void additions(tutti::Team& world) {
  auto sums = tutti::make_tensor<float>(world, {3, 8});
  const auto row = sums.view({1, 0}, {1, 8});
  const std::vector<tutti::bf16> mine(8, tutti::to_bf16(static_cast<float>(world.pe() + 1)));
  for (int pe = 0; pe < world.size(); ++pe) tutti::put(mine, row, pe, Update::Add);
  world.barrier();
  const int all = world.size() * (world.size() + 1) / 2;
  for (std::size_t i = 0; i < 24; ++i) {
    expect_equal(sums.local()[i], i / 8 == 1 ? static_cast<float>(all) : 0.0F, "sum");
  }
  world.barrier();
}

/// No copy on either side: I compute in my own instance and put from there; who waits for the view
/// gets it as an operand, where it lies.
void operands(tutti::Team& world) {
  auto made = tutti::make_tensor<int>(world, {8, 16});
  auto here = tutti::make_tensor<int>(world, {8, 16});
  auto ready = tutti::make_signals(world, 1);
  for (std::size_t i = 0; i < made.size(); ++i) made.local()[i] = value_of(world.pe(), i);

  const auto block = made.view({2, 4}, {3, 8});
  const auto arrived = here.view({5, 8}, {3, 8});
  tutti::put_signal(block, arrived, ready[0], next(world), 1, Update::Set);

  const auto operand = tutti::wait_until(ready[0], arrived, tutti::Cmp::Ge, 1);
  int sum = 0;
  for (std::size_t row = 0; row < operand.shape()[0]; ++row) {
    const auto columns = operand.row(row);
    sum += std::accumulate(columns.begin(), columns.end(), 0);
  }
  int expected = 0;
  for (std::size_t row = 2; row < 5; ++row) {
    for (std::size_t column = 4; column < 12; ++column) {
      expected += value_of(last(world), row * 16 + column);
    }
  }
  expect_equal(sum, expected, "sum of the operand");
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return tutti::launch(argc, argv, [](tutti::Team& world) {
    valid_part(world);
    additions(world);
    operands(world);
    if (world.pe() == 0) std::printf("views: %d PEs, all values right\n", world.size());
  });
}
