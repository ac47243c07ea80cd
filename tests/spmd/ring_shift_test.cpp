// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <string>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

// What is special about a shift around the ring of PEs. That each algorithm is right for all counts
// and types is the grid's business (collectives_test).

namespace tutti::tests {
namespace {

int value(int pe, std::size_t i, int call) { return pe * 100003 + static_cast<int>(i) * 7 + call; }

std::vector<int> vector_of(int pe, std::size_t count, int call) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(pe, i, call);
  return values;
}

/// Whose vector a PE gets.
int sender_of(const Team& team, int shift) {
  const int pes = team.size();
  return ((team.pe() - shift % pes) % pes + pes) % pes;
}

TEST(RingShift, any_shift_up_or_down_brings_the_vector_of_that_pe) {
  in_all_worlds([](Team& team) {
    int call = 0;
    const int pes = team.size();
    for (const int shift : {1, -1, 0, 2, pes - 1, pes, -pes, 7 * pes + 2, -3 * pes - 1, INT_MAX,
                            INT_MIN, INT_MIN + 1}) {
      const std::vector<int> in = vector_of(team.pe(), 300, ++call);
      std::vector<int> out(302, -7);
      ring_shift(team, in, std::span(out).subspan(1, 300), shift);
      const std::vector<int> got(out.begin() + 1, out.end() - 1);
      ASSERT_EQ(got, vector_of(sender_of(team, shift), 300, call)) << shift;
      ASSERT_TRUE(out.front() == -7 && out.back() == -7);
      ASSERT_EQ(in, vector_of(team.pe(), 300, call));
    }
  });
}

TEST(RingShift, in_place_nothing_is_overwritten_before_it_has_gone) {
  in_all_worlds([](Team& team) {
    for (const char* choice : {"", "direct:ring_bytes=16K,chunk_bytes=1K",
                               "direct:ring_bytes=32K,chunk_bytes=2K,lag=0"}) {
      std::vector<int> data = vector_of(team.pe(), 9000, 0);
      for (int call = 1; call <= 4; ++call) {
        ring_shift(team, data, 1, {.algorithm = choice});
        ASSERT_EQ(data, vector_of(sender_of(team, call), 9000, 0)) << choice << " " << call;
      }
    }
  });
}

TEST(RingShift, a_tensor_that_is_both_input_and_output_goes_through_staging) {
  run(3, [](Team& team) {
    auto x = make_tensor<int>(team, {500});
    auto y = make_tensor<int>(team, {500});
    const std::vector<int> mine = vector_of(team.pe(), 500, 3);
    std::ranges::copy(mine, x.local().begin());
    ring_shift(team, x, x, 2, {.algorithm = "direct"});
    const auto expected = vector_of(sender_of(team, 2), 500, 3);
    EXPECT_EQ(std::vector<int>(x.local().begin(), x.local().end()), expected);
    const Caught error =
        caught([&] { ring_shift(team, x, x, 2, {.algorithm = "symmetric_push"}); });
    EXPECT_EQ(error.code, ErrorCode::Tuning);
    EXPECT_NE(error.text.find("needs symmetric tensors"), std::string::npos) << error.text;
    ring_shift(team, x, y, 1, {.algorithm = "symmetric_push"});
    EXPECT_EQ(std::vector<int>(y.local().begin(), y.local().end()),
              vector_of(sender_of(team, 3), 500, 3));
    EXPECT_EQ(last_call(team).traffic.bytes_loaded, 0U);
  });
}

TEST(RingShift, a_row_of_shifts_lets_the_output_be_read_between_two_of_them) {
  run(3, [](Team& team) {
    auto in = make_tensor<int>(team, {64});
    auto out = make_tensor<int>(team, {64});
    for (int call = 0; call < 3000; ++call) {
      for (std::size_t i = 0; i < 64; ++i) in.local()[i] = value(team.pe(), i, call);
      ring_shift(team, in, out, call % 5 - 2, {.algorithm = "symmetric_push"});
      const int sender = sender_of(team, call % 5 - 2);
      for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(out.local()[i], value(sender, i, call)) << call;
    }
  });
}

TEST(RingShift, every_way_to_call_gives_the_same) {
  in_all_worlds([](Team& team) {
    const std::vector<int> mine = vector_of(team.pe(), 40, 1);
    const std::vector<int> expected = vector_of(sender_of(team, 1), 40, 1);
    std::vector<int> out(40, -1);
    ring_shift(team, mine.data(), out.data(), 40);
    EXPECT_EQ(out, expected);
    out.assign(40, -1);
    start_ring_shift(team, mine, out).finish();
    EXPECT_EQ(out, expected);
    out.assign(40, -1);
    Persistent prepared = prepare_ring_shift(team, mine, out, 1);
    for (int run = 0; run < 3; ++run) {
      out.assign(40, -1);
      prepared.run();
      EXPECT_EQ(out, expected);
    }
    out = mine;
    ring_shift(team, out);
    EXPECT_EQ(out, expected);
  });
}

TEST(RingShift, shifts_that_differ_from_pe_to_pe_are_told_to_all) {
  std::vector<Caught> errors(3);
  run(3, [&](Team& team) {
    std::vector<int> data(4, team.pe());
    errors[static_cast<std::size_t>(team.pe())] = caught([&] {
      ring_shift(team, data, team.pe() == 1 ? 2 : 1);
      team.barrier();
    });
  });
  for (const Caught& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::Mismatch) << error.text;
    EXPECT_NE(error.text.find("ring_shift i32 one_line count 4 shift "), std::string::npos)
        << error.text;
  }
}

TEST(RingShift, what_does_not_fit_is_refused_by_name_and_the_team_stays_usable) {
  run(3, [](Team& team) {
    std::vector<int> nine(9);
    std::vector<int> eight(8);
    expect_refused([&] { ring_shift(team, nine, eight); }, "in has 9 elements and out has 8");
    const std::span<int> all(nine);
    expect_refused([&] { ring_shift(team, all.first(8), all.subspan(1)); }, "overlaps");
    expect_refused([&] { ring_shift(team, nine, 1, {.lane = 4}); }, "lane 4; allowed are 0 to 3");
    ring_shift(team, nine);
  });
}

}  // namespace
}  // namespace tutti::tests
