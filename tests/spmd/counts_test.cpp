// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

// Collectives with counts, where blocks differ: in the grid (collectives_test) they are even.

namespace tutti::tests {
namespace {

using Counts = std::vector<std::size_t>;

constexpr const char* kChoices[] = {"", "direct:ring_bytes=16K,chunk_bytes=1K",
                                    "direct:ring_bytes=32K,chunk_bytes=2K,lag=3"};

/// Block lengths that differ from PE to PE and call to call; some are 0, one is long.
std::size_t length_of(int from, int to, int call) {
  const int mixed = from * 7 + to * 5 + call * 3;
  if (mixed % 4 == 0) return 0;
  return static_cast<std::size_t>(mixed % 11 == 1 ? 5000 + mixed : mixed % 97);
}

Counts counts_of(int pes, int call) {
  Counts counts;
  for (int pe = 0; pe < pes; ++pe) counts.push_back(length_of(pe, 0, call));
  return counts;
}

std::size_t sum(const Counts& counts, int first = 0, int last = 1 << 30) {
  std::size_t all = 0;
  for (int i = first; i < std::min<int>(last, static_cast<int>(counts.size())); ++i) {
    all += counts[static_cast<std::size_t>(i)];
  }
  return all;
}

int value(int from, std::size_t index, int call) {
  return from * 1000003 + static_cast<int>(index) * 17 + call;
}

/// gatherv and scatterv have no lag.
std::string_view without_lag(std::string_view choice) {
  return choice.substr(0, choice.find(",lag"));
}

/// `body` for every choice of parameters, in worlds of 1 to 5 PEs of both kinds.
void in_all_choices(const std::function<void(Team&, const Call&, int call)>& body) {
  in_all_worlds([&](Team& team) {
    int call = 0;
    for (const char* choice : kChoices) {
      for (int repeat = 0; repeat < 4; ++repeat) body(team, {.algorithm = choice}, call++);
    }
  });
}

TEST(Counts, allgatherv_puts_blocks_of_any_length_one_after_the_other) {
  in_all_choices([](Team& team, const Call& how, int call) {
    const Counts counts = counts_of(team.size(), call);
    const auto me = static_cast<std::size_t>(team.pe());
    std::vector<int> expected;
    for (int pe = 0; pe < team.size(); ++pe) {
      for (std::size_t i = 0; i < counts[static_cast<std::size_t>(pe)]; ++i) {
        expected.push_back(value(pe, i, call));
      }
    }
    std::vector<int> mine(counts[me]);
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = value(team.pe(), i, call);
    std::vector<int> all(sum(counts) + 2, -7);  // a guard on either side
    const std::span<int> inside = std::span(all).subspan(1, sum(counts));
    allgatherv(team, mine, inside, counts, how);
    ASSERT_EQ(std::vector<int>(inside.begin(), inside.end()), expected) << call;
    ASSERT_TRUE(all.front() == -7 && all.back() == -7);

    std::ranges::fill(inside, -1);
    const auto own = inside.subspan(sum(counts, 0, team.pe()), counts[me]);
    std::ranges::copy(mine, own.begin());
    allgatherv(team, own, inside, counts, how);
    ASSERT_EQ(std::vector<int>(inside.begin(), inside.end()), expected) << call << " in place";
  });
}

TEST(Counts, reduce_scatterv_folds_blocks_of_any_length) {
  in_all_choices([](Team& team, const Call& how, int call) {
    const Counts counts = counts_of(team.size(), call);
    const auto me = static_cast<std::size_t>(team.pe());
    const std::size_t before = sum(counts, 0, team.pe());
    std::vector<int> in(sum(counts));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(team.pe(), i, call);
    std::vector<int> expected(counts[me]);
    for (int pe = 0; pe < team.size(); ++pe) {
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += value(pe, before + i, call);
    }
    std::vector<int> out(counts[me] + 2, -7);
    const std::span<int> inside = std::span(out).subspan(1, counts[me]);
    reduce_scatterv(team, in, inside, counts, Op::Sum, how);
    ASSERT_EQ(std::vector<int>(inside.begin(), inside.end()), expected) << call;
    ASSERT_TRUE(out.front() == -7 && out.back() == -7);

    const auto own = std::span(in).subspan(before, counts[me]);
    reduce_scatterv(team, in, own, counts, Op::Sum, how);
    ASSERT_EQ(std::vector<int>(own.begin(), own.end()), expected) << call << " in place";
  });
}

TEST(Counts, alltoallv_brings_blocks_of_any_length_to_everyone) {
  in_all_choices([](Team& team, const Call& how, int call) {
    Counts sent;
    Counts received;
    std::vector<int> in;
    std::vector<int> expected;
    for (int pe = 0; pe < team.size(); ++pe) {
      sent.push_back(length_of(team.pe(), pe, call));
      received.push_back(length_of(pe, team.pe(), call));
      for (std::size_t i = 0; i < sent.back(); ++i) in.push_back(value(team.pe(), i, call) + pe);
      for (std::size_t i = 0; i < received.back(); ++i) {
        expected.push_back(value(pe, i, call) + team.pe());
      }
    }
    std::vector<int> out(expected.size() + 2, -7);
    alltoallv(team, in, sent, std::span(out).subspan(1, expected.size()), received, how);
    ASSERT_TRUE(out.front() == -7 && out.back() == -7);
    ASSERT_EQ(std::vector<int>(out.begin() + 1, out.end() - 1), expected) << call;
  });
}

/// PE 1 sends nothing and receives; receives nothing and sends; nobody has anything.
TEST(Counts, a_pe_with_nothing_to_send_or_to_receive_stays_in_step) {
  for (const std::uint64_t seed : {0, 7}) {
    run_world(3, seed, [](Team& team) {
      for (int call = 0; call < 30; ++call) {
        const auto length = [&](int from, int to) -> std::size_t {
          if (call % 3 == 2 || (call % 3 == 0 ? from : to) == 1) return 0;
          return static_cast<std::size_t>(1 + from * 3 + to * 700);
        };
        Counts sent;
        Counts received;
        std::vector<int> expected;
        for (int pe = 0; pe < 3; ++pe) {
          sent.push_back(length(team.pe(), pe));
          received.push_back(length(pe, team.pe()));
          expected.insert(expected.end(), received.back(), pe * 100 + call);
        }
        const std::vector<int> in(sum(sent), team.pe() * 100 + call);
        std::vector<int> out(expected.size(), -7);
        alltoallv(team, in, sent, out, received);
        ASSERT_EQ(out, expected) << call;
        std::vector<int> number(1, team.pe() + 1);
        allreduce(team, number, Op::Sum);
        ASSERT_EQ(number[0], 6) << call;
      }
    });
  }
}

/// All blocks, one after the other, as the PEs have them in a call.
std::vector<int> all_blocks(const Counts& counts, int call) {
  std::vector<int> all;
  for (std::size_t pe = 0; pe < counts.size(); ++pe) {
    for (std::size_t i = 0; i < counts[pe]; ++i) {
      all.push_back(value(static_cast<int>(pe), i, call));
    }
  }
  return all;
}

TEST(Counts, gatherv_gives_the_root_blocks_of_any_length_and_touches_nobody_elses_output) {
  in_all_choices([](Team& team, const Call& given, int call) {
    const int root = call % team.size();
    const Counts counts = counts_of(team.size(), call);
    const std::vector<int> expected = all_blocks(counts, call);
    const std::size_t before = sum(counts, 0, team.pe());
    const auto me = static_cast<std::size_t>(team.pe());
    const std::vector<int> mine(
        expected.begin() + static_cast<std::ptrdiff_t>(before),
        expected.begin() + static_cast<std::ptrdiff_t>(before + counts[me]));
    const Call how = {.algorithm = without_lag(given.algorithm)};
    std::vector<int> out(team.pe() == root ? expected.size() + 2 : 0, -7);  // a guard on each side
    const auto inside =
        team.pe() == root ? std::span(out).subspan(1, expected.size()) : std::span<int>();
    gatherv(team, mine, inside, counts, root, how);
    if (team.pe() == root) {
      ASSERT_EQ(std::vector<int>(inside.begin(), inside.end()), expected) << call;
      ASSERT_TRUE(out.front() == -7 && out.back() == -7);
      std::ranges::fill(inside, -1);
      std::ranges::copy(mine, inside.begin() + static_cast<std::ptrdiff_t>(before));
    }
    const auto own = team.pe() == root ? std::span<const int>(inside.subspan(before, counts[me]))
                                       : std::span<const int>(mine);
    gatherv(team, own, inside, counts, root, how);
    ASSERT_EQ(std::vector<int>(inside.begin(), inside.end()),
              team.pe() == root ? expected : std::vector<int>())
        << call << " in place";
  });
}

TEST(Counts, scatterv_gives_everyone_its_block_of_the_roots_input) {
  in_all_choices([](Team& team, const Call& given, int call) {
    const int root = call % team.size();
    const Counts counts = counts_of(team.size(), call);
    std::vector<int> all = all_blocks(counts, call);
    const std::size_t before = sum(counts, 0, team.pe());
    const std::size_t mine = counts[static_cast<std::size_t>(team.pe())];
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(before);
    const std::vector<int> expected(begin, begin + static_cast<std::ptrdiff_t>(mine));
    const Call how = {.algorithm = without_lag(given.algorithm)};
    const auto in = team.pe() == root ? std::span<int>(all) : std::span<int>();
    std::vector<int> out(mine + 2, -7);
    const std::span<int> inside = std::span(out).subspan(1, mine);
    scatterv(team, in, inside, counts, root, how);
    ASSERT_EQ(std::vector<int>(inside.begin(), inside.end()), expected) << call;
    ASSERT_TRUE(out.front() == -7 && out.back() == -7);

    const std::vector<int> given_all = all;
    scatterv(team, in, team.pe() == root ? in.subspan(before, mine) : inside, counts, root, how);
    ASSERT_EQ(std::vector<int>(inside.begin(), inside.end()), expected) << call << " in place";
    ASSERT_EQ(all, given_all);
  });
}

TEST(Counts, roots_and_counts_that_do_not_fit_are_refused_on_every_pe) {
  run(2, [](Team& team) {
    std::vector<int> five(5);
    std::vector<int> own(team.pe() == 0 ? 3 : 2);
    const Counts both = {3, 2};
    expect_refused([&] { gatherv(team, own, five, both, 2); }, "root 2; allowed are 0 to 1");
    expect_refused([&] { scatterv(team, five, own, both, -1); }, "root -1; allowed are 0 to 1");
    expect_refused([&] { gatherv(team, own, five, Counts{5}, 0); },
                   "counts has 1 numbers; there are 2 PEs");
    const std::vector<int> four(4);
    std::vector<int> four_out(4);
    expect_refused([&] { gatherv(team, four, five, both, 0); }, "in has 4 elements; counts[");
    expect_refused([&] { scatterv(team, five, four_out, both, 1); }, "out has 4 elements; counts[");
    allreduce(team, five, Op::Sum);
  });
}

TEST(Counts, what_the_root_alone_can_refuse_ends_the_call_on_the_others) {
  std::vector<Caught> errors(3);
  run(3, [&](Team& team) {
    const Counts counts = {3, 2, 1};
    std::vector<int> mine(counts[static_cast<std::size_t>(team.pe())]);
    std::vector<int> seven(7);
    errors[static_cast<std::size_t>(team.pe())] = caught([&] {
      gatherv(team, mine, seven, counts, 1);
      team.barrier();
    });
  });
  EXPECT_EQ(errors[1].code, ErrorCode::InvalidArgument);
  EXPECT_NE(errors[1].text.find("out has 7 elements; counts add up to 6"), std::string::npos);
  for (const std::size_t pe : {0U, 2U}) {
    EXPECT_EQ(errors[pe].code, ErrorCode::PeerFailed) << errors[pe].text;
    EXPECT_NE(errors[pe].text.find("counts add up to 6"), std::string::npos) << errors[pe].text;
  }
}

TEST(Counts, what_does_not_add_up_is_refused_by_name) {
  run(2, [](Team& team) {
    std::vector<int> five(5);
    std::vector<int> three(3);
    const Counts both = {3, 2};
    expect_refused([&] { allgatherv(team, three, five, Counts{3}); },
                   "counts has 1 numbers; there are 2 PEs");
    expect_refused([&] { allgatherv(team, three, three, both); },
                   "out has 3 elements; counts add up to 5");
    expect_refused([&] { reduce_scatterv(team, five, five, both, Op::Sum); },
                   "out has 5 elements; counts[" + std::to_string(team.pe()) + "]");
    expect_refused([&] { alltoallv(team, five, both, five, both); }, "overlaps");
    expect_refused([&] { alltoallv(team, five, both, three, both); }, "receive_counts add up to 5");
    allreduce(team, five, Op::Sum);
  });
}

TEST(Counts, counts_that_differ_from_pe_to_pe_are_told) {
  run(2, [](Team& team) {
    const Counts counts = team.pe() == 0 ? Counts{2, 2} : Counts{1, 3};
    std::vector<int> mine(counts[static_cast<std::size_t>(team.pe())]);
    std::vector<int> all(4);
    const Caught error = caught([&] { allgatherv(team, mine, all, counts); });
    EXPECT_EQ(error.code, ErrorCode::Mismatch) << error.text;
  });
  run(2, [](Team& team) {
    const Counts counts = team.pe() == 0 ? Counts{2, 2} : Counts{1, 3};
    std::vector<int> mine(counts[static_cast<std::size_t>(team.pe())]);
    std::vector<int> all(4);
    const Caught error = caught([&] {
      scatterv(team, all, mine, counts, 1);  // the root need not wait for anyone
      team.barrier();
    });
    EXPECT_EQ(error.code, ErrorCode::Mismatch) << error.text;
  });
}

TEST(Counts, a_block_that_the_receiver_did_not_expect_ends_the_call_on_all) {
  std::vector<std::string> texts(3);
  run(3, [&](Team& team) {
    const Counts sent(3, 4);
    Counts received(3, 4);
    if (team.pe() == 2) received[0] = 5;
    const std::vector<int> in(12);
    std::vector<int> out(sum(received));
    texts[static_cast<std::size_t>(team.pe())] = caught([&] {
                                                   alltoallv(team, in, sent, out, received);
                                                   team.barrier();
                                                 }).text;
  });
  for (const std::string& text : texts) {
    EXPECT_NE(text.find("PE 0 sends me 4 elements, I expect 5"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tutti::tests
