// SPDX-License-Identifier: Apache-2.0
// The barrier's algorithms. Data are plain memory of this process: what orders them is the barrier
// alone, so ThreadSanitizer sees every step that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/environment.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

using ::testing::HasSubstr;

class Barrier : public ::testing::TestWithParam<const char*> {
 protected:
  /// Nobody may see a round that another PE has not begun, or has left by more than one.
  void keep_in_step(int pes, std::uint64_t seed, int rounds) {
    std::vector<int> round_of(static_cast<std::size_t>(pes), 0);
    run_world(pes, seed, [&](Team& team) {
      ASSERT_EQ(team.barrier_algorithm(), GetParam());
      for (int round = 1; round <= rounds; ++round) {
        round_of[static_cast<std::size_t>(team.pe())] = round;
        team.barrier();
        for (int pe = 0; pe < pes; ++pe) {
          ASSERT_EQ(round_of[static_cast<std::size_t>(pe)], round) << "PE " << pe;
        }
        team.barrier();
      }
    });
  }

  const ScopedVariable forced_{"TUTTI_ALGORITHM", std::string("barrier=") + GetParam()};
};

TEST_P(Barrier, nobody_leaves_before_all_have_come) {
  for (int pes = 1; pes <= 9; ++pes) keep_in_step(pes, 0, rounds(200, 20000));
}

TEST_P(Barrier, nobody_leaves_early_when_every_peer_is_unreachable) {
  for (int pes = 1; pes <= 9; ++pes) keep_in_step(pes, 3, rounds(25, 1000));
}

TEST_P(Barrier, nobody_leaves_early_when_pes_are_late_at_any_point) {
  const ScopedVariable late("TUTTI_DELAY", "17:40");
  for (int pes = 2; pes <= 9; ++pes) keep_in_step(pes, 0, rounds(40, 2000));
}

TEST_P(Barrier, barriers_and_collectives_of_one_lane_alternate) {
  for (const std::uint64_t seed : {0U, 2U}) {
    run_world(5, seed, [](Team& team) {
      for (int round = 0; round < rounds(50, 3000); ++round) {
        std::vector<int> data(300, team.pe() + round);
        broadcast(team, data, round % 5);  // leaves others behind
        ASSERT_EQ(data, std::vector<int>(300, round % 5 + round));
        for (int i = 0; i < round % 10; ++i) team.barrier();
        allreduce(team, data, Op::Max);
        ASSERT_EQ(data[299], round % 5 + round);
      }
    });
  }
}

TEST_P(Barrier, what_was_put_before_it_is_there_for_everyone_after_it) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    run_world(6, seed, [](Team& team) {
      auto x = make_tensor<int>(team, {6});
      std::vector<int> seen(6);
      for (int round = 1; round <= rounds(20, 1000); ++round) {
        for (int pe = 0; pe < 6; ++pe) {
          put(std::vector<int>{round * 10 + team.pe()}, x.view({team.pe()}, {1}), pe);
        }
        team.barrier();
        get(x, (team.pe() + round) % 6, seen);  // a third PE looks at what I put
        for (int pe = 0; pe < 6; ++pe) {
          ASSERT_EQ(seen[static_cast<std::size_t>(pe)], round * 10 + pe) << round;
        }
        team.barrier();
      }
    });
  }
}

/// Looks at this process until PE `pe` waits.
std::string wait_of(int pe) {
  for (;;) {
    for (const PeStatus& status : job_status(getpid())) {
      if (status.pe == pe && status.waiting) return status.waits_for;
    }
    std::this_thread::yield();
  }
}

TEST_P(Barrier, who_has_not_come_is_named_by_those_who_have_not_heard_of_it) {
  for (const int absent : {0, 2, 6}) {
    run(7, [absent](Team& team) {
      if (team.pe() == absent) {
        for (int pe = 0; pe < 7; ++pe) {
          if (pe == absent) continue;
          const std::string waits = wait_of(pe);
          EXPECT_THAT(waits, ::testing::StartsWith("barrier, call "));
          EXPECT_THAT(waits, HasSubstr("waiting for PE " + std::to_string(absent) + " (last in"));
          for (int other = 0; other < 7; ++other) {
            if (other == absent) continue;
            EXPECT_THAT(waits, ::testing::Not(HasSubstr("PE " + std::to_string(other) + " (")));
          }
        }
      }
      team.barrier();
    });
  }
}

TEST_P(Barrier, a_pe_that_fails_ends_it_on_every_other) {
  for (int failing = 0; failing < 6; ++failing) {
    std::vector<std::string> texts(6);
    const auto body = [&](Team& team) {
      team.barrier();
      if (team.pe() == failing) throw std::runtime_error("gave up on purpose");
      texts[static_cast<std::size_t>(team.pe())] = caught([&] { team.barrier(); }).text;
    };
    EXPECT_THROW(run(6, body), std::exception);
    for (int pe = 0; pe < 6; ++pe) {
      if (pe == failing) continue;
      EXPECT_THAT(texts[static_cast<std::size_t>(pe)], HasSubstr("gave up on purpose"));
      EXPECT_THAT(texts[static_cast<std::size_t>(pe)], HasSubstr("PE " + std::to_string(failing)));
    }
  }
}

TEST_P(Barrier, a_pe_that_makes_another_call_ends_it_on_all) {
  for (int other = 0; other < 6; ++other) {
    std::vector<Caught> errors(6);
    run(6, [&](Team& team) {
      errors[static_cast<std::size_t>(team.pe())] = caught([&] {
        int one = 1;
        team.pe() == other ? allreduce(team, &one, &one, 1, Op::Sum) : team.barrier();
      });
    });
    for (const Caught& error : errors) {
      EXPECT_EQ(error.code, ErrorCode::Mismatch) << error.text;
      EXPECT_THAT(error.text, HasSubstr("allreduce"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Barrier, ::testing::Values("flat", "dissemination", "tree"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(BarrierChoice, a_name_that_does_not_exist_is_refused_when_the_job_starts) {
  const ScopedVariable forced("TUTTI_ALGORITHM", "allreduce=ring;barrier=star");
  const Caught error = caught([] { run(2, [](Team&) {}); });
  EXPECT_EQ(error.code, ErrorCode::Tuning);
  EXPECT_THAT(error.text, HasSubstr("TUTTI_ALGORITHM: unknown algorithm of barrier 'star'; there "
                                    "are flat, dissemination, tree"));
}

TEST(BarrierChoice, it_stands_beside_the_choices_of_collectives) {
  const ScopedVariable forced("TUTTI_ALGORITHM", "allreduce=one_shot; barrier=tree");
  run(2, [](Team& team) {
    EXPECT_EQ(team.barrier_algorithm(), "tree");
    int one = 1;
    allreduce(team, &one, &one, 1, Op::Sum);
    EXPECT_TRUE(last_call(team).algorithm.starts_with("one_shot:"));
    EXPECT_EQ(team.split(0).barrier_algorithm(), "tree");
  });
}

}  // namespace
}  // namespace tutti::tests
