// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/call_inputs.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

TEST(Persistent, a_prepared_call_runs_again_and_again_on_what_is_in_its_buffers) {
  in_all_worlds([](Team& team) {
    Vector in(700);
    Vector out(700);
    Vector mine(30);
    Vector all(static_cast<std::size_t>(team.size()) * 30);
    Persistent reduces = prepare_allreduce(team, in, out, Op::Sum);
    Persistent gathers = prepare_allgather(team, mine, all, {.lane = 2});
    for (int round = 0; round < rounds(20, 500); ++round) {
      std::ranges::copy(input(team.pe(), round, 700), in.begin());
      const Vector block = input(team.pe(), round, 30);
      std::ranges::copy(block, mine.begin());
      reduces.run();
      gathers.run();
      ASSERT_EQ(out, sum_of_inputs(team.size(), round, 700));
      ASSERT_EQ(all[all.size() - 1], input(team.size() - 1, round, 30)[29]);
      Vector between = input(team.pe(), round, 5);
      allreduce(team, between, Op::Sum);  // another problem on the same lane
      ASSERT_EQ(between, sum_of_inputs(team.size(), round, 5));
    }
    EXPECT_EQ(reduces.algorithm().empty(), false);
  });
}

TEST(Persistent, what_is_wrong_is_refused_when_it_is_prepared) {
  run_world(2, 0, [](Team& team) {
    Vector in(5);
    Vector out(4);
    expect_refused([&] { prepare_allreduce(team, in, out, Op::Sum); }, "out has 4");
    expect_refused([&] { prepare_broadcast(team, in, 2); }, "root 2; allowed are 0 to 1");
    const Caught error =
        caught([&] { prepare_allreduce(team, in, Op::Sum, {.algorithm = "magic"}); });
    EXPECT_EQ(error.code, ErrorCode::Tuning) << error.text;
    team.barrier();
  });
}

/// Runs a prepared and an immediate call in turn on one lane; their outputs are the same.
template <class Prepare, class Immediate>
void expect_alike(Team& team, std::size_t in_count, std::size_t out_count, Prepare&& prepare,
                  Immediate&& immediate) {
  Vector in(in_count);
  Vector out(out_count);
  Vector expected(out_count);
  Persistent prepared = prepare(in, out);
  for (int round = 0; round < rounds(5, 100); ++round) {
    std::ranges::copy(input(team.pe(), round, in_count), in.begin());
    std::ranges::fill(out, -1);
    std::ranges::fill(expected, -1);
    prepared.run();
    immediate(in, expected);
    ASSERT_EQ(out, expected) << prepared.algorithm() << ", round " << round;
  }
}

TEST(Persistent, every_collective_has_a_prepared_form_that_does_the_same) {
  in_all_worlds([](Team& team) {
    const auto pes = static_cast<std::size_t>(team.size());
    const int root = team.size() - 1;
    expect_alike(
        team, 40, 40,
        [&](auto& in, auto& out) { return prepare_allreduce(team, in, out, Op::Max); },
        [&](auto& in, auto& out) { allreduce(team, in, out, Op::Max); });
    expect_alike(
        team, 40, 40 * pes, [&](auto& in, auto& out) { return prepare_allgather(team, in, out); },
        [&](auto& in, auto& out) { allgather(team, in, out); });
    expect_alike(
        team, 40 * pes, 40,
        [&](auto& in, auto& out) { return prepare_reduce_scatter(team, in, out, Op::Sum); },
        [&](auto& in, auto& out) { reduce_scatter(team, in, out, Op::Sum); });
    expect_alike(
        team, 40, 40,
        [&](auto& in, auto& out) { return prepare_reduce(team, in, out, Op::Sum, root); },
        [&](auto& in, auto& out) { reduce(team, in, out, Op::Sum, root); });
    expect_alike(
        team, 40, 40 * pes,
        [&](auto& in, auto& out) { return prepare_gather(team, in, out, root); },
        [&](auto& in, auto& out) { gather(team, in, out, root); });
    expect_alike(
        team, 40 * pes, 40,
        [&](auto& in, auto& out) { return prepare_scatter(team, in, out, root); },
        [&](auto& in, auto& out) { scatter(team, in, out, root); });
    expect_alike(
        team, 40 * pes, 40 * pes,
        [&](auto& in, auto& out) { return prepare_alltoall(team, in, out); },
        [&](auto& in, auto& out) { alltoall(team, in, out); });
    expect_alike(
        team, 40, 40, [&](auto& in, auto& out) { return prepare_ring_shift(team, in, out, 1); },
        [&](auto& in, auto& out) { ring_shift(team, in, out, 1); });
    Vector shared = input(team.pe(), 3, 40);
    Persistent broadcasts = prepare_broadcast(team, shared, root);
    broadcasts.run();
    EXPECT_EQ(shared, input(root, 3, 40));
  });
}

TEST(Persistent, counts_are_kept_and_other_counts_on_the_lane_do_not_disturb_them) {
  in_all_worlds([](Team& team) {
    const auto me = static_cast<std::size_t>(team.pe());
    const int root = team.size() - 1;
    const std::vector<std::size_t> counts = uneven_counts(team.size());
    const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    // Those of the prepared call are gone when it runs.
    const auto given = [&] { return std::vector<std::size_t>(counts); };
    const std::vector<std::size_t> others(counts.rbegin(), counts.rend());
    const auto disturb = [&] {
      Vector block(others[me]);
      Vector all(total);
      allgatherv(team, block, all, others);
    };
    expect_alike(
        team, counts[me], total,
        [&](auto& in, auto& out) { return prepare_allgatherv(team, in, out, given()); },
        [&](auto& in, auto& out) {
          disturb();
          allgatherv(team, in, out, counts);
          disturb();
        });
    expect_alike(
        team, total, counts[me],
        [&](auto& in, auto& out) {
          return prepare_reduce_scatterv(team, in, out, given(), Op::Sum);
        },
        [&](auto& in, auto& out) { reduce_scatterv(team, in, out, counts, Op::Sum); });
    expect_alike(
        team, counts[me], total,
        [&](auto& in, auto& out) { return prepare_gatherv(team, in, out, given(), root); },
        [&](auto& in, auto& out) { gatherv(team, in, out, counts, root); });
    expect_alike(
        team, total, counts[me],
        [&](auto& in, auto& out) { return prepare_scatterv(team, in, out, given(), root); },
        [&](auto& in, auto& out) { scatterv(team, in, out, counts, root); });
    // PE i sends counts[j] to PE j, so it receives as much from everyone.
    const std::vector<std::size_t> received(counts.size(), counts[me]);
    expect_alike(
        team, total, counts[me] * counts.size(),
        [&](auto& in, auto& out) {
          return prepare_alltoallv(team, in, given(), out, std::vector<std::size_t>(received));
        },
        [&](auto& in, auto& out) { alltoallv(team, in, counts, out, received); });
  });
}

TEST(Persistent, counts_that_differ_from_pe_to_pe_are_told_when_it_runs) {
  run_world(2, 0, [](Team& team) {
    const std::vector<std::size_t> counts =
        team.pe() == 0 ? std::vector<std::size_t>{2, 4} : std::vector<std::size_t>{3, 3};
    Vector in(counts[static_cast<std::size_t>(team.pe())]);
    Vector out(6);
    Persistent prepared = prepare_allgatherv(team, in, out, counts);
    const Caught error = caught([&] { prepared.run(); });
    EXPECT_EQ(error.code, ErrorCode::Mismatch) << error.text;
  });
}

TEST(Persistent, an_operation_of_the_programs_own_runs_prepared) {
  in_all_worlds([](Team& team) {
    const auto pes = static_cast<std::size_t>(team.size());
    const auto larger = user_op<std::int64_t>(
        [](const std::int64_t& a, const std::int64_t& b) { return a < b ? b : a; }, Commutes::Yes);
    expect_alike(
        team, 40, 40, [&](auto& in, auto& out) { return prepare_allreduce(team, in, out, larger); },
        [&](auto& in, auto& out) { allreduce(team, in, out, Op::Max); });
    expect_alike(
        team, 40, 40, [&](auto& in, auto& out) { return prepare_reduce(team, in, out, larger, 0); },
        [&](auto& in, auto& out) { reduce(team, in, out, Op::Max, 0); });
    expect_alike(
        team, 40 * pes, 40,
        [&](auto& in, auto& out) { return prepare_reduce_scatter(team, in, out, larger); },
        [&](auto& in, auto& out) { reduce_scatter(team, in, out, Op::Max); });
  });
}

}  // namespace
}  // namespace tutti::tests
