// SPDX-License-Identifier: Apache-2.0
#include "tutti/signals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/transfer.hpp"
#include "tutti/wait.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

// What must not compile.
template <class W, class U>
concept CanSignal = requires(W word, U update) {
  signal(word, 0, 1, update);
};
static_assert(CanSignal<Signal, Update::SetTag> && CanSignal<Counter, Update::AddTag>);
static_assert(!CanSignal<Signal, Update::AddTag> && !CanSignal<Counter, Update::SetTag>);
static_assert(!CanSignal<Signal, Cmp> && !CanSignal<Counter, Cmp> && !CanSignal<Signal, int>);
static_assert(!CanSignal<PublishedWord, Update::SetTag>);
template <class W, class U>
concept CanPutSignal = requires(const std::vector<int>& src, const View<int>& dst, W word,
                                U update) {
  put_signal(src, dst, word, 0, 1, update);
};
static_assert(CanPutSignal<Signal, Update::SetTag> && CanPutSignal<Counter, Update::AddTag>);
static_assert(!CanPutSignal<Signal, Update::AddTag> && !CanPutSignal<Counter, Update::SetTag>);
static_assert(!CanPutSignal<PublishedWord, Update::SetTag>);
template <class W, class C>
concept CanWait = requires(W word, C cmp) {
  wait_until(word, cmp, 1);
};
static_assert(CanWait<Signal, Cmp> && CanWait<Counter, Cmp> && !CanWait<PublishedWord, Cmp>);
static_assert(!CanWait<Signal, Update::SetTag> && !CanWait<Signal, int>);
static_assert(!std::is_convertible_v<Cmp, int> && !std::is_convertible_v<int, Cmp>);
static_assert(!std::is_convertible_v<Update::SetTag, Update::AddTag>);
template <class W>
concept CanPublish = requires(W word) {
  publish(word, 1);
};
static_assert(CanPublish<PublishedWord> && !CanPublish<Signal> && !CanPublish<Counter>);

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(value); }

struct Row {
  Cmp cmp;
  std::array<bool, 3> holds;  // for a word of v - 1, v, v + 1
};
constexpr std::array<Row, 6> kTruth = {{{Cmp::Eq, {false, true, false}},
                                        {Cmp::Ne, {true, false, true}},
                                        {Cmp::Gt, {false, false, true}},
                                        {Cmp::Ge, {false, true, true}},
                                        {Cmp::Lt, {true, false, false}},
                                        {Cmp::Le, {true, true, false}}}};

TEST(Signals, waits_return_or_time_out_as_the_comparison_says) {
  for (const std::uint64_t seed : {0, 1}) {
    run_world(2, seed, [](Team& team) {
      auto words = make_signals(team, 3);
      const std::uint64_t value = 0x1122334455667788;
      for (std::size_t i = 0; i < 3; ++i) signal(words[i], team.pe(), value - 1 + i, Update::Set);
      for (const Row& row : kTruth) {
        for (std::size_t i = 0; i < 3; ++i) {
          const Caught error = caught([&] { wait_until(words[i], row.cmp, value, 50ms); });
          EXPECT_EQ(error.text.empty(), row.holds[i]) << error.text;
          EXPECT_EQ(test(words[i], row.cmp, value), row.holds[i]);
          if (!row.holds[i]) {
            EXPECT_EQ(error.code, ErrorCode::Timeout);
          }
        }
      }
      team.barrier();  // a wait of the user's that timed out leaves the team usable
    });
  }
}

TEST(Signals, a_signal_to_all_reaches_everyone_and_me) {
  in_all_worlds([](Team& team) {
    auto words = make_signals(team, wide(team.size()));
    for (std::uint64_t round = 1; round <= 5; ++round) {
      signal(words[wide(team.pe())], kAllPes, round << 40 | wide(team.pe()), Update::Set);
      for (std::size_t from = 0; from < words.size(); ++from) {
        wait_until(words[from], Cmp::Ge, round << 40);
        EXPECT_EQ(words[from].value() & 0xff, from);
      }
      team.barrier();
    }
    expect_refused([&] { signal(words[0], team.size(), 1, Update::Set); }, "there is no PE");
    expect_refused([&] { signal(words[0], -2, 1, Update::Set); }, "there is no PE -2");
  });
}

TEST(Signals, no_addition_to_a_counter_is_lost) {
  in_all_worlds([](Team& team) {
    auto counter = make_counters(team, 1);
    const int adds = rounds(500, 20000);
    for (int i = 0; i < adds; ++i) {
      signal(counter[0], (team.pe() + i) % team.size(), 1, Update::Add);
      if (i % 50 == 0) signal(counter[0], kAllPes, 1000000, Update::Add);
    }
    team.barrier();
    std::uint64_t expected = 1000000 * wide((adds + 49) / 50) * wide(team.size());
    for (int pe = 0; pe < team.size(); ++pe) {
      for (int i = 0; i < adds; ++i) expected += (pe + i) % team.size() == team.pe() ? 1 : 0;
    }
    EXPECT_EQ(counter[0].value(), expected);
  });
}

TEST(Signals, a_published_word_tells_everyone) {
  in_all_worlds([](Team& team) {
    auto words = make_published(team, 2);
    auto x = make_tensor<int>(team, {team.size()});
    for (int round = 1; round <= 20; ++round) {
      for (int pe = 0; pe < team.size(); ++pe) {
        put(std::array{round * 10 + team.pe()}, x.view({team.pe()}, {1}), pe);
      }
      publish(words[1], wide(round));
      for (int pe = 0; pe < team.size(); ++pe) {
        await(words[1], pe, wide(round));
        EXPECT_GE(words[1].value(pe), wide(round));
        ASSERT_EQ(x.local()[wide(pe)], round * 10 + pe);
      }
      EXPECT_FALSE(test(words[1], (team.pe() + 1) % team.size(), wide(round) + 2));
      team.barrier();
    }
    EXPECT_EQ(words[0].value(0), 0u);
    expect_refused([&] { await(words[0], team.size(), 1); }, "there is no PE");
    EXPECT_EQ(caught([&] { await(words[0], 0, 1, 50ms); }).code, ErrorCode::Timeout);
    team.barrier();
  });
}

TEST(Signals, waits_on_sets_find_what_was_raised) {
  in_all_worlds([](Team& team) {
    auto words = make_signals(team, 4);
    const int peer = (team.pe() + 1) % team.size();
    EXPECT_EQ(test_any(words, Cmp::Ne, 0), std::nullopt);
    EXPECT_TRUE(test_some(words, Cmp::Ne, 0).empty());
    team.barrier();
    signal(words[2], peer, 5, Update::Set);
    EXPECT_EQ(wait_any(words, Cmp::Eq, 5), 2u);
    EXPECT_FALSE(test_all(words, Cmp::Eq, 5));
    team.barrier();
    signal(words[1], peer, 5, Update::Set);
    wait_until(words[1], Cmp::Eq, 5);
    EXPECT_EQ(wait_some(words, Cmp::Eq, 5), (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(test_any(words, Cmp::Eq, 5), 1u);
    wait_all(std::vector{words[2], words[1]}, Cmp::Eq, 5);
    team.barrier();
    signal(words[0], peer, 5, Update::Set);
    signal(words[3], peer, 5, Update::Set);
    wait_all(words, Cmp::Eq, 5);
    EXPECT_TRUE(test_all(words, Cmp::Eq, 5));
    EXPECT_EQ(caught([&] { wait_any(words, Cmp::Gt, 5, 50ms); }).code, ErrorCode::Timeout);
    EXPECT_EQ(caught([&] { wait_all(words, Cmp::Gt, 5, 50ms); }).code, ErrorCode::Timeout);
    team.barrier();
  });
}

TEST(Signals, sets_of_no_words_are_decided_at_once) {
  run_world(2, 0, [](Team& team) {
    auto none = make_counters(team, 0);
    wait_all(none, Cmp::Ge, 1);
    EXPECT_TRUE(test_all(none, Cmp::Ge, 1));
    EXPECT_EQ(test_any(none, Cmp::Ge, 1), std::nullopt);
    EXPECT_TRUE(test_some(none, Cmp::Ge, 1).empty());
    expect_refused([&] { wait_any(none, Cmp::Ge, 1); }, "no words");
    expect_refused([&] { wait_some(none, Cmp::Ge, 1); }, "no words");
    Team half = team.split(0);
    auto here = make_signals(team, 1);
    auto there = make_signals(half, 1);
    expect_refused([&] { wait_any(std::vector{here[0], there[0]}, Cmp::Ge, 1); }, "another team");
    team.barrier();
  });
}

TEST(Signals, words_start_at_zero_also_in_memory_that_had_words_before) {
  for (const std::uint64_t seed : {0, 1}) {
    run_world(2, seed, [](Team& team) {
      for (int i = 0; i < 20; ++i) {
        auto words = make_counters(team, 1);
        for (int k = 0; k < 5; ++k) signal(words[0], 1 - team.pe(), 1, Update::Add);
        wait_until(words[0], Cmp::Eq, 5);
      }
      auto words = make_counters(team, 1);
      EXPECT_EQ(caught([&] { wait_until(words[0], Cmp::Ge, 1, 50ms); }).code, ErrorCode::Timeout);
      team.barrier();
    });
  }
}

TEST(Signals, ping_pong_survives_a_pe_that_is_late_to_look) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    run_world(2, seed, [](Team& team) {
      auto word = make_signals(team, 1);
      if (team.pe() == 1) std::this_thread::sleep_for(20ms);
      const int peer = 1 - team.pe();
      for (int i = 1; i <= rounds(500, 20000); ++i) {
        if (team.pe() == 0) signal(word[0], peer, wide(i), Update::Set);
        wait_until(word[0], Cmp::Ge, wide(i));
        if (team.pe() == 1) signal(word[0], peer, wide(i), Update::Set);
      }
    });
  }
}

TEST(Signals, what_a_pe_sent_before_it_left_still_arrives) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::atomic<bool> left = false;
    run_world(2, seed, [&](Team& team) {
      auto x = make_tensor<int>(team, {100});
      auto words = make_signals(team, 2);
      if (team.pe() == 0) {
        for (int i = 0; i < 100; ++i) put(std::array{i + 1}, x.view({i}, {1}), 1);
        signal(words[0], 1, 1, Update::Set);
        left = true;
        return;
      }
      for (int i = 0; i < 1023; ++i) EXPECT_FALSE(test(words[1], Cmp::Ge, 1));
      while (!left) std::this_thread::yield();
      std::this_thread::sleep_for(50ms);  // the next test finds that PE 0 has gone
      while (!test(words[0], Cmp::Ge, 1)) {
      }
      for (int i = 0; i < 100; ++i) EXPECT_EQ(x.local()[wide(i)], i + 1);
    });
  }
}

TEST(Signals, a_loop_of_tests_ends_when_the_peer_fails) {
  std::string seen;
  try {
    run(2, [&](Team& team) {
      auto word = make_signals(team, 1);
      if (team.pe() == 1) throw Error(ErrorCode::Unsupported, "PE 1 has had enough");
      const Caught error = caught([&] {
        while (!test(word[0], Cmp::Ge, 1)) {
        }
      });
      EXPECT_EQ(error.code, ErrorCode::PeerFailed);
      seen = error.text;
    });
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
  }
  EXPECT_NE(seen.find("had enough"), std::string::npos) << seen;
}

}  // namespace
}  // namespace tutti
