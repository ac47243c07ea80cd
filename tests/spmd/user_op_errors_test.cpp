// SPDX-License-Identifier: Apache-2.0
// Reductions of a program's own (`UserOp`) that cannot be done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

using ::testing::HasSubstr;

struct Matrix {
  std::int64_t a, b, c, d;
};

TEST(UserOpErrors, pes_that_differ_in_size_or_in_commuting_end_in_a_mismatch) {
  struct Other {
    std::int64_t a, b, c;
  };
  const auto differing = [](Team& team, bool size) {
    if (team.pe() != 1) {
      std::vector<Matrix> data(16, Matrix{});
      return allreduce(team, data,
                       UserOp<Matrix>([](Matrix*, const Matrix*, std::size_t) {}, Commutes::No));
    }
    if (size) {
      std::vector<Other> data(16);
      return allreduce(team, data,
                       UserOp<Other>([](Other*, const Other*, std::size_t) {}, Commutes::No));
    }
    std::vector<Matrix> data(16);
    allreduce(team, data,
              UserOp<Matrix>([](Matrix*, const Matrix*, std::size_t) {}, Commutes::Yes));
  };
  for (const bool size : {true, false}) {
    for (const std::uint64_t seed : {0, 5}) {
      run_world(3, seed, [&](Team& team) {
        std::vector<int> warm(1000);
        allreduce(team, warm, Op::Sum);
        const Caught error = caught([&] { differing(team, size); });
        EXPECT_EQ(error.code, ErrorCode::Mismatch) << error.text;
      });
    }
  }
}

TEST(UserOpErrors, an_exception_of_the_function_ends_the_job_on_every_pe_with_its_text) {
  const auto add = [](const void* fails, int* acc, const int* next, std::size_t count) {
    if (*static_cast<const bool*>(fails)) throw std::runtime_error("out of matrices");
    for (std::size_t i = 0; i < count; ++i) acc[i] += next[i];
  };
  for (const char* algorithm : {"one_line", "one_shot", "two_shot", "ring", "tree"}) {
    std::array<std::string, 4> texts;
    const auto body = [&](Team& team) {
      bool fails = false;
      const UserOp<int> op(add, &fails, Commutes::Yes);
      std::vector<int> data(std::string_view(algorithm) == "one_line" ? 10 : 1000, 1);
      try {
        for (int i = 0; i < 20; ++i) {
          fails = team.pe() == 1 && i == 3;
          allreduce(team, data, op, {.algorithm = algorithm});
        }
      } catch (const std::exception& error) {
        texts[static_cast<std::size_t>(team.pe())] = error.what();
        throw;
      }
    };
    EXPECT_THROW(run(4, body), std::runtime_error) << algorithm;
    EXPECT_THAT(texts, ::testing::Each(HasSubstr("out of matrices"))) << algorithm;
    EXPECT_THAT(texts[3], HasSubstr("on PE 1")) << algorithm;
  }
}

TEST(UserOpErrors, an_operation_without_a_function_is_refused_and_the_team_goes_on) {
  run_world(2, 0, [](Team& team) {
    std::vector<int> data(4, 1);
    const UserOp<int> none(static_cast<UserOp<int>::Fold>(nullptr), Commutes::Yes);
    expect_refused([&] { allreduce(team, data, none); }, "has no function");
    allreduce(team, data, Op::Sum);
    EXPECT_THAT(data, ::testing::Each(2));
  });
}

}  // namespace
}  // namespace tutti::tests
