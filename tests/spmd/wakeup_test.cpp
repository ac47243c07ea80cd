// SPDX-License-Identifier: Apache-2.0
// Litmus tests of waiting. With the delay points compiled in, waits sleep at once and as good as
// forever: one lost wake-up and the test stands still until its time limit ends it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/transfer.hpp"
#include "tutti/wait.hpp"

namespace tutti {
namespace {

const bool sleep_only = [] {
  setenv("TUTTI_NAP", "1000000", 1);
  return true;
}();

void spin_once() { asm volatile("" ::: "memory"); }

std::uint64_t wide(int value) { return static_cast<std::uint64_t>(value); }

TEST(Wakeup, no_wake_up_of_a_counter_is_lost) {
  ASSERT_TRUE(sleep_only);
  const std::uint64_t last = wide(rounds(30000, 2000000));
  run_world(2, 0, [&](Team& team) {
    auto counter = make_counters(team, 1);
    for (std::uint64_t i = 1; i <= last; ++i) {
      if (team.pe() == 0) signal(counter[0], 1, 1, Update::Add);
      wait_until(counter[0], Cmp::Ge, i);
      if (team.pe() == 1) signal(counter[0], 0, 1, Update::Add);
    }
    EXPECT_EQ(counter[0].value(), last);
  });
}

TEST(Wakeup, no_wake_up_of_a_signal_is_lost_whenever_it_comes) {
  const std::uint64_t last = wide(rounds(100000, 2000000));
  const bool crowded = usable_cpus() < 2;
  run_world(2, 0, [&](Team& team) {
    auto words = make_signals(team, 1);
    std::minstd_rand random(1);
    for (std::uint64_t i = 1; i <= last; ++i) {
      if (team.pe() == 1) {
        wait_until(words[0], Cmp::Ge, i);
        signal(words[0], 0, i, Update::Set);
        continue;
      }
      // PE 0 never sleeps, so that its signal comes while PE 1 looks a last time, is going to
      // sleep, or sleeps.
      const std::uint32_t turns = random() % 8192;
      for (std::uint32_t turn = 0; turn < turns; ++turn) spin_once();
      signal(words[0], 1, i, Update::Set);
      while (!test(words[0], Cmp::Ge, i)) {
        if (crowded) std::this_thread::yield();
      }
    }
  });
}

TEST(Wakeup, no_wake_up_is_lost_with_more_pes_than_cpus) {
  const std::uint64_t last = wide(rounds(20000, 500000));
  run_world(6, 0, [&](Team& team) {  // a ball goes round; in the end everyone has had it
    auto words = make_signals(team, 1);
    for (std::uint64_t i = 1; i <= last; ++i) {
      if (team.pe() != 0 || i > 1) wait_until(words[0], Cmp::Ge, team.pe() == 0 ? i - 1 : i);
      signal(words[0], (team.pe() + 1) % team.size(), i, Update::Set);
    }
  });
}

TEST(Wakeup, no_wake_up_of_a_published_word_is_lost) {
  const std::uint64_t last = wide(rounds(20000, 500000));
  run_world(3, 0, [&](Team& team) {
    auto words = make_published(team, 1);
    for (std::uint64_t i = 1; i <= last; ++i) {
      publish(words[0], i);
      for (int pe = 0; pe < team.size(); ++pe) await(words[0], pe, i);
    }
  });
}

TEST(Wakeup, no_message_of_a_transport_is_slept_through) {
  const std::uint64_t last = wide(rounds(2000, 200000));
  for (const std::uint64_t seed : {1, 2, 3}) {
    run_world(2, seed, [&](Team& team) {
      auto counter = make_counters(team, 1);
      for (std::uint64_t i = 1; i <= last; ++i) {
        if (team.pe() == 0) signal(counter[0], 1, 1, Update::Add);
        wait_until(counter[0], Cmp::Ge, i);
        if (team.pe() == 1) signal(counter[0], 0, 1, Update::Add);
      }
      quiet(team);
      team.barrier();
    });
  }
}

/// A late PE: now and then it looks away for a while.
void dawdle(std::mt19937& random) {
  for (std::uint32_t i = random() % 64 == 0 ? random() % 20 : 0; i > 0; --i) {
    std::this_thread::yield();
  }
}

TEST(Wakeup, call_slots_are_used_again_only_when_a_late_pe_has_left_them) {
  for (const std::uint64_t seed : {0, 1}) {
    run_world(3, seed, [&](Team& team) {
      auto x = make_tensor<int>(team, {2, 3});
      std::mt19937 random(7);
      for (int i = 1; i <= rounds(seed == 0 ? 10000 : 1000, 300000); ++i) {
        put(std::array{i}, x.view({i % 2, team.pe()}, {1, 1}), (team.pe() + 1) % 3);
        if (team.pe() == 1) dawdle(random);
        team.barrier();
        ASSERT_EQ(x.local()[wide(i % 2 * 3 + (team.pe() + 2) % 3)], i);
      }
    });
  }
}

/// Messages of 1 and 60 bytes in turn, each behind its length, with a sum over its bytes.
struct Slot {
  std::uint8_t bytes = 0;
  std::array<std::uint8_t, 60> text{};
  std::uint16_t sum = 0;
};

Slot message(std::uint64_t number) {
  Slot slot;
  slot.bytes = number % 2 == 0 ? 1 : 60;
  for (std::size_t i = 0; i < slot.bytes; ++i) {
    slot.text[i] = static_cast<std::uint8_t>(number * 31 + i);
    slot.sum = static_cast<std::uint16_t>(slot.sum + slot.text[i]);
  }
  return slot;
}

TEST(Wakeup, a_ring_of_slots_with_a_late_reader_shows_no_torn_message) {
  constexpr std::uint64_t kSlots = 4;
  for (const std::uint64_t seed : {0, 1}) {
    const std::uint64_t last = wide(rounds(seed == 0 ? 50000 : 2000, 1000000));
    run_world(2, seed, [&](Team& team) {
      auto ring = make_tensor<Slot>(team, {kSlots});
      auto sent = make_signals(team, 1);      // at the reader: messages in the ring so far
      auto consumed = make_signals(team, 1);  // at the writer: messages read so far
      std::mt19937 random(3);
      for (std::uint64_t n = 1; n <= last; ++n) {
        const auto slot = ring.view({n % kSlots}, {1});
        if (team.pe() == 0) {
          if (n > kSlots) wait_until(consumed[0], Cmp::Ge, n - kSlots);
          put_signal(std::array{message(n)}, slot, sent[0], 1, n, Update::Set);
        } else {
          dawdle(random);
          const auto seen = wait_until(sent[0], slot, Cmp::Ge, n);
          const Slot expected = message(n);
          ASSERT_EQ(seen(0).bytes, expected.bytes) << "message " << n;
          ASSERT_EQ(seen(0).text, expected.text) << "message " << n;
          ASSERT_EQ(seen(0).sum, expected.sum) << "message " << n;
          signal(consumed[0], 0, n, Update::Set);
        }
      }
    });
  }
}

}  // namespace
}  // namespace tutti
