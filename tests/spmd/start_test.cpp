// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/call_inputs.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

TEST(Start, operations_in_flight_may_be_finished_in_any_order) {
  in_all_worlds([](Team& team) {
    for (int round = 0; round < rounds(8, 500); ++round) {
      constexpr int kInFlight = 7;  // more than there are lanes for them
      std::vector<Vector> data;
      for (int k = 0; k < kInFlight; ++k) {
        data.push_back(input(team.pe(), round + k, std::size_t{1} << (2 * k)));
      }
      std::vector<Request> requests;
      for (Vector& each : data) requests.push_back(start_allreduce(team, each, Op::Sum));
      for (int k = 0; k < kInFlight; ++k) {
        // Even PEs finish the first first, odd ones the last.
        const auto at = static_cast<std::size_t>(team.pe() % 2 == 0 ? k : kInFlight - 1 - k);
        requests[at].finish();
        ASSERT_EQ(data[at],
                  sum_of_inputs(team.size(), round + static_cast<int>(at), data[at].size()));
      }
    }
  });
}

TEST(Start, a_blocking_call_lets_started_ones_go_on) {
  in_all_worlds([](Team& team) {
    for (int round = 0; round < rounds(10, 300); ++round) {
      Vector first = input(team.pe(), round, 3000);
      Vector second(static_cast<std::size_t>(team.size()) * 100);
      const Vector mine = input(team.pe(), round, 100);
      Request reduces = start_allreduce(team, first, Op::Sum);
      Request gathers = start_allgather(team, mine, second);
      Vector third = input(team.pe(), round + 1, 40);
      allreduce(team, third, Op::Sum);
      team.barrier();
      EXPECT_EQ(third, sum_of_inputs(team.size(), round + 1, 40));
      if (team.pe() % 2 == 0) {
        reduces.finish();
        gathers.finish();
      } else {
        gathers.finish();
        reduces.finish();
      }
      EXPECT_EQ(first, sum_of_inputs(team.size(), round, 3000));
      EXPECT_EQ(second[second.size() - 1], input(team.size() - 1, round, 100)[99]);
    }
  });
}

TEST(Start, operations_of_several_teams_are_in_flight_together) {
  for (const std::uint64_t seed : {0U, 1U}) {
    run_world(4, seed, [](Team& team) {
      Team half = team.split(team.pe() / 2);
      Team parity = team.split(team.pe() % 2);
      for (int round = 0; round < rounds(10, 300); ++round) {
        Vector a = input(team.pe(), round, 500);
        Vector b = input(half.pe(), round + 1, 700);
        Vector c = input(parity.pe(), round + 2, 900);
        Request on_all = start_allreduce(team, a, Op::Sum);
        Request on_half = start_allreduce(half, b, Op::Sum);
        Request on_parity = start_allreduce(parity, c, Op::Sum);
        if (team.pe() % 3 == 0) on_parity.finish();
        on_half.finish();
        on_all.finish();
        on_parity.finish();
        EXPECT_EQ(a, sum_of_inputs(4, round, 500));
        EXPECT_EQ(b, sum_of_inputs(2, round + 1, 700));
        EXPECT_EQ(c, sum_of_inputs(2, round + 2, 900));
      }
    });
  }
}

TEST(Start, test_ends_a_loop_without_blocking) {
  in_all_worlds([](Team& team) {
    Vector data = input(team.pe(), 1, 20'000);
    Request request = start_allreduce(team, data, Op::Sum);
    while (!request.test()) {
    }
    EXPECT_EQ(data, sum_of_inputs(team.size(), 1, 20'000));
    EXPECT_TRUE(request.test()) << "ended already";
    request.finish();
  });
}

TEST(Start, a_body_may_be_any_sequence_of_collectives) {
  in_all_worlds([](Team& team) {
    Vector data = input(team.pe(), 5, 64);
    Vector all(static_cast<std::size_t>(team.size()) * 64);
    Request request = start(team, [&](Team& on, const Call& call) {
      allreduce(on, data, Op::Sum, call);
      allgather(on, data, all, call);
    });
    Vector other = input(team.pe(), 6, 8);
    allreduce(team, other, Op::Sum);
    request.finish();
    const Vector sum = sum_of_inputs(team.size(), 5, 64);
    for (int pe = 0; pe < team.size(); ++pe) {
      EXPECT_TRUE(std::equal(sum.begin(), sum.end(), all.begin() + pe * 64));
    }
    EXPECT_EQ(other, sum_of_inputs(team.size(), 6, 8));
  });
}

TEST(Start, errors_come_out_of_finish_and_a_refusal_by_all_leaves_the_team_usable) {
  in_all_worlds([](Team& team) {
    Vector in(5);
    Vector out(4);
    Request request = start_allreduce(team, in, out, Op::Sum);
    expect_refused([&] { request.finish(); },
                   "in has 5 elements and out has 4; both must have as many");
    expect_refused([&] { static_cast<void>(start_allreduce(team, in, Op::Sum, {.lane = 9})); },
                   "lane 9; allowed are 0 to 3");
    Vector data = input(team.pe(), 2, 10);
    start_allreduce(team, data, Op::Sum).finish();
    EXPECT_EQ(data, sum_of_inputs(team.size(), 2, 10));
  });
}

TEST(Start, an_exception_with_an_operation_in_flight_hangs_nobody) {
  const Caught error = caught([] {
    run(3, [](Team& team) {
      Vector data(100);
      Request request = start_allreduce(team, data, Op::Sum);
      if (team.pe() == 1) throw Error(ErrorCode::System, "the disk is full");
      request.finish();
      for (;;) allreduce(team, data, Op::Sum);
    });
  });
  EXPECT_THAT(error.text, ::testing::HasSubstr("the disk is full"));
}

TEST(Start, one_thread_of_a_pe_at_a_time_has_operations_in_flight) {
  run_world(2, 0, [](Team& team) {
    auto words = make_signals(team, 1);
    Vector data = input(team.pe(), 4, 200);
    if (team.pe() == 1) wait_until(words[0], Cmp::Ge, 1);
    Request request = start_allreduce(team, data, Op::Sum);
    if (team.pe() == 0) {
      std::thread([&] {
        Vector other(5);
        expect_refused([&] { static_cast<void>(start_allreduce(team, other, Op::Sum)); },
                       "another thread of this PE has operations in flight");
      }).join();
      signal(words[0], 1, 1, Update::Set);
    }
    request.finish();
    EXPECT_EQ(data, sum_of_inputs(2, 4, 200));
  });
}

TEST(Start, an_operation_that_is_not_finished_is_finished_by_its_destructor) {
  in_all_worlds([](Team& team) {
    Vector data = input(team.pe(), 3, 1000);
    { const Request request = start_allreduce(team, data, Op::Sum); }
    EXPECT_EQ(data, sum_of_inputs(team.size(), 3, 1000));
  });
}

TEST(Start, every_collective_can_be_started_and_counts_are_kept) {
  in_all_worlds([](Team& team) {
    const auto pes = static_cast<std::size_t>(team.size());
    const auto me = static_cast<std::size_t>(team.pe());
    const int root = team.size() - 1;
    const std::vector<std::size_t> counts = uneven_counts(team.size());
    const std::vector<std::size_t> received(pes, counts[me]);
    const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const Vector one = input(team.pe(), 1, 40);
    const Vector many = input(team.pe(), 2, 40 * pes);
    const Vector own = input(team.pe(), 3, counts[me]);
    const Vector all = input(team.pe(), 4, total);
    const auto outputs = [&] {
      return std::vector<Vector>{Vector(40),    Vector(40 * pes),   Vector(40),
                                 Vector(total), Vector(counts[me]), Vector(counts[me] * pes),
                                 Vector(total), Vector(counts[me])};
    };
    std::vector<Vector> expected = outputs();
    reduce(team, one, expected[0], Op::Sum, root);
    gather(team, one, expected[1], root);
    scatter(team, many, expected[2], root);
    allgatherv(team, own, expected[3], counts);
    reduce_scatterv(team, all, expected[4], counts, Op::Sum);
    alltoallv(team, all, counts, expected[5], received);
    gatherv(team, own, expected[6], counts, root);
    scatterv(team, all, expected[7], counts, root);
    std::vector<Vector> out = outputs();
    std::vector<Request> started;
    {
      const std::vector<std::size_t> given = counts;  // gone before anything is finished
      const std::vector<std::size_t> taken = received;
      started.push_back(start_reduce(team, one, out[0], Op::Sum, root));
      started.push_back(start_gather(team, one, out[1], root));
      started.push_back(start_scatter(team, many, out[2], root));
      started.push_back(start_allgatherv(team, own, out[3], given));
      started.push_back(start_reduce_scatterv(team, all, out[4], given, Op::Sum));
      started.push_back(start_alltoallv(team, all, given, out[5], taken));
      started.push_back(start_gatherv(team, own, out[6], given, root));
      started.push_back(start_scatterv(team, all, out[7], given, root));
    }
    // Even PEs finish the first first, odd ones the last.
    if (team.pe() % 2 != 0) std::ranges::reverse(started);
    for (Request& request : started) request.finish();
    EXPECT_EQ(out, expected);
  });
}

}  // namespace
}  // namespace tutti::tests
