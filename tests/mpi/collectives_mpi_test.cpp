// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

#include "support/collective_grid.hpp"
#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

// The same bodies as the spmd tests, with processes of mpirun as PEs; every rank runs every test.

namespace tutti::tests {
namespace {

TEST(Mpi, every_algorithm_is_exact_between_processes) {
  Team team = from_mpi(MPI_COMM_WORLD);
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Algorithm* algorithm : algorithms(static_cast<Collective>(c))) {
      check_algorithm(team, *algorithm);
      // A failure on one PE must end the loop on all, or the others wait for it.
      std::vector<int> failed(1, ::testing::Test::HasFailure() ? 1 : 0);
      allreduce(team, failed, Op::Max);
      ASSERT_EQ(failed[0], 0) << algorithm->name;
    }
  }
}

TEST(Mpi, a_team_of_a_split_communicator_has_its_ranks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    Team team = from_mpi(half);
    int half_rank = 0;
    MPI_Comm_rank(half, &half_rank);
    EXPECT_EQ(team.pe(), half_rank);
    std::vector<int> sum(3, rank);
    allreduce(team, sum, Op::Sum);
    std::vector<int> expected(3, rank);
    MPI_Allreduce(MPI_IN_PLACE, expected.data(), 3, MPI_INT, MPI_SUM, half);
    EXPECT_EQ(sum, expected);
  }
  MPI_Comm_free(&half);
}

TEST(Mpi, calls_of_tutti_and_mpi_mix_in_one_program) {
  Team team = from_mpi(MPI_COMM_WORLD);
  std::vector<float> ours(1000);
  std::vector<float> theirs(1000);
  for (int call = 0; call < 200; ++call) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ours[i] = static_cast<float>((static_cast<int>(i) + call) % 17 + team.pe());
    }
    MPI_Allreduce(ours.data(), theirs.data(), 1000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    allreduce(team, ours, Op::Sum);
    ASSERT_EQ(ours, theirs);
  }
}

TEST(Mpi, tensors_signals_and_puts_work_between_processes) {
  Team team = from_mpi(MPI_COMM_WORLD);
  auto data = make_tensor<int>(team, {64});
  auto words = make_signals(team, 1);
  const int next = (team.pe() + 1) % team.size();
  const int before = (team.pe() + team.size() - 1) % team.size();
  for (int round = 1; round <= 500; ++round) {
    const std::vector<int> mine(64, round * 100 + team.pe());
    put_signal(mine, data.view(), words[0], next, static_cast<std::uint64_t>(round), Update::Set);
    wait_until(words[0], Cmp::Ge, static_cast<std::uint64_t>(round));
    for (const int value : data.local()) ASSERT_EQ(value, round * 100 + before);
    team.barrier();
  }
}

}  // namespace
}  // namespace tutti::tests

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  if (failed != 0) MPI_Abort(MPI_COMM_WORLD, failed);
  MPI_Finalize();
  return failed;
}
