// SPDX-License-Identifier: Apache-2.0
// A program in the seed's own names (tutti/pypto.hpp): its two quick-start examples, the usual
// sequence of clear, barrier, put, signal, wait and get, load and store, and groups.
#include <cstdint>
#include <cstdio>
#include <span>
#include <tutti/pypto.hpp>
#include <tutti/tutti.hpp>
#include <vector>

#include "check.hpp"

namespace {

namespace dist = tutti::pypto;
using dist::ClearSignal;
using tutti::Cmp;
using tutti::Update;

/// Basic data transfer, and the signal that makes it safe to read elsewhere.
void usual_sequence(const dist::Groups& groups, int n_pes) {
  auto shmem_tensor =
      dist::create_shmem_tensor<float>(groups, "example", n_pes, {16, 64}, tutti::tile(16, 64));
  const int me = dist::my_symbolic_pe(groups, "example");
  const int next = (me + 1) % n_pes, last = (me + n_pes - 1) % n_pes;
  for (int round = 1; round <= 3; ++round) {
    dist::shmem_clear_data(shmem_tensor);
    dist::shmem_clear_signal(shmem_tensor);
    dist::shmem_barrier_all(shmem_tensor);

    const std::vector<float> local_data(16 * 64, static_cast<float>(10 * round + me));
    const auto put_out = dist::shmem_put(local_data, shmem_tensor, next, Update::Set);
    dist::shmem_signal(shmem_tensor, me, 1, next, Update::Set, put_out);
    const auto wait_out = dist::shmem_wait_until(shmem_tensor, last, Cmp::Eq, 1, ClearSignal::Yes);
    const std::vector<float> get_out = dist::shmem_get(shmem_tensor, me, wait_out);
    for (const float value : get_out) {
      expect_equal(value, static_cast<float>(10 * round + last), "get_out");
    }
    dist::shmem_barrier_all(shmem_tensor);
  }
}

/// All PEs of the group count up a signal of everyone, clear it, and do it again.
void counted_rounds(const dist::Groups& groups, int n_pes) {
  auto signal_tensor = dist::create_shmem_signal(groups, "example", n_pes);
  for (int round = 0; round < 3; ++round) {
    dist::shmem_signal(signal_tensor, 0, 1, tutti::kAllPes, Update::Add);
    dist::shmem_wait_until(signal_tensor, 0, Cmp::Eq, static_cast<std::uint64_t>(n_pes),
                           ClearSignal::Yes);
    dist::shmem_barrier_all(signal_tensor);  // Eq may be overshot without it
  }
}

/// Computes straight into the next PE's instance; then everyone's is an operand.
void load_and_store(tutti::Team& world) {
  auto x = dist::create_shmem_tensor<int>(world, {6, 8}, tutti::tile(2, 8));
  auto done = dist::create_shmem_signal(world);
  const int next = (world.pe() + 1) % world.size();
  const auto rows = dist::shmem_view(x, {2, 8}, {4, 0}, {2, 5});
  const auto stored = dist::shmem_store(rows, next, [&](std::size_t row, std::span<int> out) {
    for (std::size_t c = 0; c < out.size(); ++c) {
      out[c] = 100 * world.pe() + static_cast<int>(10 * row + c);
    }
  });
  dist::shmem_signal(done, 0, 1, tutti::kAllPes, Update::Add, stored);
  const auto all =
      dist::shmem_wait_until(done, 0, Cmp::Ge, static_cast<std::uint64_t>(world.size()));
  for (int pe = 0; pe < world.size(); ++pe) {
    const auto operand = dist::shmem_load(rows, pe, all);  // read where it lies
    const int writer = (pe + world.size() - 1) % world.size();
    for (std::size_t row = 0; row < operand.rows(); ++row) {
      for (std::size_t c = 0; c < operand.shape()[1]; ++c) {
        expect_equal(operand(row, c), 100 * writer + static_cast<int>(10 * row + c), "operand");
      }
    }
  }
  dist::shmem_barrier_all(done);
}

/// Even and odd PEs, each group with tensors of its own.
void even_and_odd(tutti::Team& world) {
  dist::Groups groups;
  groups.add("parity", world.split(world.pe() % 2));
  const int n_pes = groups.team("parity").size();
  const int me = dist::my_symbolic_pe(groups, "parity");
  auto sums = dist::create_shmem_tensor<float>(groups, "parity", n_pes, {4});
  for (int pe = 0; pe < n_pes; ++pe) {
    dist::shmem_put(std::vector<tutti::bf16>(4, tutti::to_bf16(static_cast<float>(me + 1))), sums,
                    pe, Update::Add);
  }
  dist::shmem_barrier_all(sums);
  const int all = n_pes * (n_pes + 1) / 2;
  for (const tutti::bf16 sum : dist::shmem_get<tutti::bf16>(sums, me)) {
    expect_equal(tutti::to_float(sum), static_cast<float>(all), "sum");
  }
  dist::shmem_barrier_all(sums);
}

}  // namespace

int main(int argc, char** argv) {
  return tutti::launch(argc, argv, [](tutti::Team& world) {
    dist::Groups groups;
    groups.add("example", world);
    usual_sequence(groups, world.size());
    counted_rounds(groups, world.size());
    load_and_store(world);
    even_and_odd(world);
    if (world.pe() == 0) std::printf("pypto_names: %d PEs, all values right\n", world.size());
  });
}
