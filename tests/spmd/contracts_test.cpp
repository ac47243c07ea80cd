// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

/// Numbers whose sum depends on the order of additions: huge, tiny, denormal, -0.0.
std::vector<float> hard_input(int pe, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(pe) + 5);
  std::uniform_real_distribution<float> exponent(-30, 30);
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i) {
    data[i] = std::exp2(exponent(random)) * (random() % 2 == 0 ? 1.0F : -1.0F);
  }
  const float extremes[] = {1e8F, 1.0F, -1e8F, 1e-42F, -0.0F, 3e38F};
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 6); ++i) {
    data[i] = extremes[(i + static_cast<std::size_t>(pe)) % 6];
  }
  return data;
}

std::uint64_t hash_of(const void* data, std::size_t bytes) {
  std::uint64_t hash = 1469598103934665603u;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  }
  return hash;
}

/// The left fold in PE order.
std::uint64_t oracle(int pes, std::size_t count) {
  std::vector<float> sum = hard_input(0, count);
  for (int pe = 1; pe < pes; ++pe) {
    const std::vector<float> next = hard_input(pe, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += next[i];
  }
  return hash_of(sum.data(), count * sizeof(float));
}

TEST(Contracts, ordered_has_one_hash_for_all_algorithms_chunks_alignments_and_transports) {
  constexpr std::size_t kCount = 5003;
  for (const int pes : {2, 3, 5, 8}) {
    const std::uint64_t expected = oracle(pes, kCount);
    for (const bool loopback : {false, true}) {
      run(pes,
          [&](Team& team) {
            for (const Algorithm* algorithm : algorithms(Collective::Allreduce)) {
              if (!algorithm->keeps_ordered || !algorithm->parameters.size()) continue;
              for (const char* chunk : {":chunk_bytes=1K,ring_bytes=16K", ":chunk_bytes=8K", ""}) {
                for (const std::size_t shift : {0, 1, 3}) {
                  const auto in = hard_input(team.pe(), kCount);
                  std::vector<float> out(kCount + shift);
                  allreduce(team, in, std::span(out).subspan(shift), Op::Sum,
                            {.algorithm = algorithm->name + std::string(chunk),
                             .contract = Contract::Ordered});
                  ASSERT_EQ(hash_of(out.data() + shift, kCount * sizeof(float)), expected)
                      << algorithm->name << chunk << " shift " << shift << " pes " << pes;
                }
              }
            }
          },
          {.loopback = loopback});
    }
  }
}

/// In place on every second PE, elsewhere out of place; every PE's buffers are shifted otherwise.
void expect_ordered_in_private_memory(Team& team, std::size_t count, std::uint64_t expected) {
  const auto shift = static_cast<std::size_t>(team.pe() % 4);
  std::vector<float> in(count + 4), out(count + 4, 7.0F);
  std::ranges::copy(hard_input(team.pe(), count), in.begin() + static_cast<std::ptrdiff_t>(shift));
  const auto source = std::span(in).subspan(shift, count);
  const auto apart = std::span(out).subspan(4 - shift, count);
  const auto target = team.pe() % 2 == 0 ? source : apart;
  allreduce(team, source, target, Op::Sum,
            {.algorithm = "symmetric_push", .contract = Contract::Ordered});
  EXPECT_EQ(hash_of(target.data(), count * sizeof(float)), expected) << "PE " << team.pe();
  if (team.pe() % 2 == 0) return;
  const std::vector<float> sent = hard_input(team.pe(), count);
  EXPECT_EQ(std::memcmp(source.data(), sent.data(), count * sizeof(float)), 0) << team.pe();
  EXPECT_EQ(out[3 - shift], 7.0F);
}

TEST(Contracts, threads_fold_each_others_private_buffers_to_the_same_ordered_bits) {
  for (const int pes : {2, 3, 5, 8}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{17}, std::size_t{5003}}) {
      const std::uint64_t expected = oracle(pes, count);
      run(pes, [&](Team& team) {
        ASSERT_TRUE(team.shared_address_space());
        for (int repeat = 0; repeat < 20; ++repeat) {  // the words of earlier calls are met again
          expect_ordered_in_private_memory(team, count, expected);
        }
      });
    }
  }
}

TEST(Contracts, private_buffers_of_unreachable_peers_are_not_touched) {
  run(2,
      [](Team& team) {
        EXPECT_FALSE(team.shared_address_space());
        std::vector<float> data(100, 1);
        try {
          allreduce(team, data, Op::Sum, {.algorithm = "symmetric_push"});
          ADD_FAILURE() << "not refused";
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), ::testing::HasSubstr("threads of one process"));
        }
      },
      {.loopback = true});
}

TEST(Contracts, ordered_reduce_and_reduce_scatter_are_the_left_fold_too) {
  constexpr std::size_t kBlock = 701;
  for (const int pes : {2, 3, 5, 8}) {
    const std::size_t count = kBlock * static_cast<std::size_t>(pes);
    run(pes, [&](Team& team) {
      std::vector<float> expected = hard_input(0, count);
      for (int pe = 1; pe < pes; ++pe) {
        const std::vector<float> next = hard_input(pe, count);
        for (std::size_t i = 0; i < count; ++i) expected[i] += next[i];
      }
      const float* mine = expected.data() + static_cast<std::size_t>(team.pe()) * kBlock;
      auto in = make_tensor<float>(team, {count});
      auto out = make_tensor<float>(team, {count});
      auto block = make_tensor<float>(team, {kBlock});
      std::ranges::copy(hard_input(team.pe(), count), in.local().begin());
      const auto ask = [](const Algorithm* algorithm) {
        return Call{.algorithm = algorithm->name, .contract = Contract::Ordered};
      };
      for (const Algorithm* algorithm : algorithms(Collective::Reduce)) {
        if (!algorithm->keeps_ordered || algorithm->parameters.empty()) continue;
        reduce(team, in, out, Op::Sum, pes - 1, ask(algorithm));
        if (team.pe() != pes - 1) continue;
        EXPECT_EQ(std::memcmp(out.local().data(), expected.data(), count * sizeof(float)), 0)
            << algorithm->name << " pes " << pes;
      }
      for (const Algorithm* algorithm : algorithms(Collective::ReduceScatter)) {
        if (!algorithm->keeps_ordered || std::string_view(algorithm->name) == "one_line") continue;
        reduce_scatter(team, in, block, Op::Sum, ask(algorithm));
        EXPECT_EQ(std::memcmp(block.local().data(), mine, kBlock * sizeof(float)), 0)
            << algorithm->name << " pes " << pes;
      }
    });
  }
}

TEST(Contracts, consistent_gives_the_same_bits_on_every_pe_and_in_every_run) {
  for (const Algorithm* algorithm : algorithms(Collective::Allreduce)) {
    const std::size_t count = std::string_view(algorithm->name) == "one_line" ? 14 : 4001;
    for (const int pes : {3, 4, 6, 8}) {
      Problem problem;
      problem.pes = pes;
      problem.count = count;
      problem.shared_address_space = true;
      if (algorithm->supports(problem) != nullptr) continue;
      const auto p = static_cast<std::size_t>(pes);
      std::vector<std::uint64_t> hashes(3 * p);
      for (std::size_t repeat = 0; repeat < 3; ++repeat) {
        run(pes, [&](Team& team) {
          auto data = hard_input(team.pe(), count);
          allreduce(team, data, Op::Sum, {.algorithm = algorithm->name});
          hashes[repeat * p + static_cast<std::size_t>(team.pe())] =
              hash_of(data.data(), count * sizeof(float));
        });
      }
      EXPECT_THAT(hashes, ::testing::Each(hashes[0])) << algorithm->name << " pes " << pes;
    }
  }
}

TEST(Contracts, an_algorithm_that_reorders_is_refused_where_order_is_asked) {
  run(2, [](Team& team) {
    std::vector<float> data(8);
    try {
      allreduce(team, data, Op::Sum, {.algorithm = "ring", .contract = Contract::Ordered});
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("ring"));
    }
    allreduce(team, data, Op::Sum);  // refused by all: the team stays usable
  });
}

TEST(Contracts, any_number_of_refusals_in_a_row_leaves_the_team_usable_whoever_is_ahead) {
  for (const bool loopback : {false, true}) {
    run(5,
        [](Team& team) {
          std::vector<int> data(8, 1);
          for (int i = 0; i < 200; ++i) {
            EXPECT_THROW(allreduce(team, data, Op::Sum,
                                   {.algorithm = "ring", .contract = Contract::Ordered}),
                         Error);
          }
          allreduce(team, data, Op::Sum);
          EXPECT_THAT(data, ::testing::Each(5));
        },
        {.loopback = loopback});
  }
}

// A user's own algorithm: everyone sends its vector in the line, p at a time.
const char* always(const Problem& problem) {
  return bytes_of(problem) > 56 ? "takes at most 56 bytes" : nullptr;
}
constexpr Algorithm kMine = {
    .collective = Collective::Allreduce,
    .name = "mine",
    .summary = "a test's own",
    .source = "none",
    .keeps_ordered = true,
    .parameters = {},
    .supports = always,
    .scratch_bytes = [](const Problem&, const Params&) -> std::size_t { return 0; },
    .traffic = [](const Problem&, const Params&, int) { return Traffic{}; },
    .run =
        [](Execution& x, const Params&) {
          const std::size_t bytes = bytes_of(x.problem());
          x.publish_line(x.in(), bytes);
          const auto sources = x.sources();
          for (int pe = 0; pe < x.pes(); ++pe) {
            sources[static_cast<std::size_t>(pe)] = x.await_line(pe, bytes);
          }
          x.fold(x.out(), sources, x.problem().count);
        },
};

TEST(Contracts, a_users_own_algorithm_is_chosen_explained_and_reported) {
  Options options;
  options.extra_algorithms = {&kMine};
  run(
      3,
      [](Team& team) {
        std::vector<int> data(5, team.pe());
        allreduce(team, data, Op::Sum, {.algorithm = "mine"});
        EXPECT_EQ(data[4], 3);
        EXPECT_EQ(last_call(team).algorithm, "mine");
      },
      options);
}

TEST(Tuning, a_loaded_file_decides_and_what_ran_is_what_explain_said) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tutti_contracts_test_" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << R"({"tutti_tuning": 1, "rules": [
    {"collective": "allreduce", "bytes": [1000, 5000], "algorithm": "two_shot",
     "params": {"chunk_bytes": "8K", "lag": 2}}]})";
  run(2, [&](Team& team) {
    load_tuning(team, path);
    std::vector<float> data(1000, 1);
    allreduce(team, data, Op::Sum);
    Problem problem;
    problem.count = data.size();
    const Explanation said = explain(team, problem);
    EXPECT_EQ(last_call(team).algorithm, describe(*said.algorithm, said.params));
    EXPECT_THAT(last_call(team).algorithm, ::testing::HasSubstr("two_shot"));
    EXPECT_THAT(last_call(team).algorithm, ::testing::HasSubstr("chunk_bytes=8192"));
    EXPECT_EQ(said.where, Where::File);
    std::vector<float> other(5000, 1);
    allreduce(team, other, Op::Sum);
    EXPECT_THAT(last_call(team).algorithm, ::testing::Not(::testing::HasSubstr("8192")));
  });
  std::filesystem::remove(path);
}

TEST(Tuning, the_file_of_the_environment_decides_on_every_team_unless_it_is_of_another_machine) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tutti_environment_" + std::to_string(getpid()) + ".json");
  for (const bool ours : {true, false}) {
    std::ofstream(path) << R"({"tutti_tuning": 1, "machine": {)"
                        << (ours ? "" : R"("cpu": "Another")")
                        << R"(}, "rules": [{"collective": "allreduce", "algorithm": "ring"}]})";
    setenv("TUTTI_TUNING", path.c_str(), 1);
    run(2, [&](Team& team) {
      Team part = team.split(0);
      for (Team* each : {&team, &part}) {
        std::vector<float> data(1000, 1);
        allreduce(*each, data, Op::Sum);
        EXPECT_EQ(last_call(*each).algorithm.starts_with("ring"), ours);
      }
    });
    unsetenv("TUTTI_TUNING");
  }
  std::filesystem::remove(path);
}

TEST(Tuning, a_file_of_another_machine_is_refused_by_all_with_what_pe_0_says) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tutti_other_machine_" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << R"({"tutti_tuning": 1, "machine": {"cpu": "Another", "cores": 99},
    "rules": [{"collective": "allreduce", "algorithm": "two_shot"}]})";
  std::vector<std::string> errors(3);
  run(3, [&](Team& team) {
    try {
      load_tuning(team, path);
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(team.pe())] = error.what();
    }
    load_tuning(team, path, true);  // the team can be used still
  });
  EXPECT_THAT(errors[0], ::testing::HasSubstr("cores: 99 in the file"));
  EXPECT_EQ(errors[1], errors[0]);
  EXPECT_EQ(errors[2], errors[0]);
  std::filesystem::remove(path);
}

TEST(Tuning, a_file_that_cannot_be_read_is_the_same_error_on_all) {
  run(3, [](Team& team) {
    EXPECT_THROW(load_tuning(team, "/no/such/file"), Error);
    std::vector<int> data(1, 1);
    allreduce(team, data, Op::Sum);
    EXPECT_EQ(data[0], 3);
  });
}

}  // namespace
}  // namespace tutti::tests
