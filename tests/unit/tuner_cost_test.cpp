// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "collectives/tuner/cost.hpp"
#include "collectives/tuner/predicted.hpp"
#include "fake_algorithms.hpp"
#include "library_choices.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

double time_of(std::string_view algorithm, bool stream, const Problem& problem,
               const MachineFacts& machine = {}) {
  for (const Prediction& each : predictions(problem, library(), machine)) {
    const int store = store_index(*each.algorithm);
    const bool streams = store >= 0 && each.params[static_cast<std::size_t>(store)] != 0;
    if (each.algorithm->name == algorithm && streams == stream) return each.us;
  }
  ADD_FAILURE() << algorithm << " cannot solve " << describe(problem);
  return 0;
}

TEST(TunerCost, is_the_sum_of_words_and_bytes_over_bandwidths) {
  Problem problem = problem_of(Collective::Allreduce, 2, 100);
  problem.count = 1000;  // two steps; stores 1000 bytes, loads and folds 2000
  const CostModel model = {.call_us = 0.25,
                           .line_us = 0.1,
                           .drain_us = 7,
                           .copy_gbps = 1,
                           .store_gbps = 1,
                           .cross_gbps = 4,
                           .stream_gbps = 10,
                           .memory_gbps = 5,
                           .retake_gbps = 1,
                           .fold_gbps = 2};
  Params params = initial_params(fake::kTwoShot);
  const double call = 0.25 + (2 + 1.0 / 16) * 0.1;
  EXPECT_DOUBLE_EQ(predicted_us(fake::kTwoShot, params, problem, model), call + 1.0 + 0.5 + 1.0);
  params[static_cast<std::size_t>(store_index(fake::kTwoShot))] = 1;
  EXPECT_DOUBLE_EQ(predicted_us(fake::kTwoShot, params, problem, model),
                   call + 7 + 0.1 + 0.4 + 1.0);
}

TEST(TunerCost, a_chunk_that_passes_many_pes_takes_longer) {
  Problem problem = problem_of(Collective::Broadcast, 64, 45);
  problem.count = 4 * kKi;
  EXPECT_LT(time_of("flat", false, problem), time_of("binomial", false, problem));
  EXPECT_LT(time_of("binomial", false, problem), time_of("chain", false, problem));
}

TEST(TunerCost, staging_past_the_caches_loses_near_and_wins_far_apart) {
  for (const int pes : {2, 3, 4}) {
    Problem problem = problem_of(Collective::Alltoall, pes, 45);
    for (problem.count = 2 * kKi; problem.count <= 4 * kMi; problem.count *= 2) {
      problem.line_ns = 45;
      EXPECT_GT(time_of("direct", true, problem), 1.2 * time_of("direct", false, problem));
      problem.line_ns = 220;
      EXPECT_LT(1.5 * time_of("direct", true, problem), time_of("direct", false, problem));
    }
  }
}

TEST(TunerCost, open_buffers_lose_while_peers_have_their_lines) {
  Problem problem = problem_of(Collective::Allreduce, 4, 45, Memory::Symmetric);
  problem.count = 64 * kKi;
  EXPECT_GT(time_of("symmetric_push", false, problem), time_of("two_shot", false, problem));
  problem.count = 4 * kMi;
  EXPECT_LT(time_of("symmetric_push", false, problem), time_of("two_shot", false, problem));
  problem.line_ns = 220;
  EXPECT_GT(time_of("symmetric_push", false, problem), time_of("two_shot", true, problem));
}

TEST(TunerCost, a_files_figures_are_used_and_what_crosses_only_in_its_regime) {
  const Problem near = problem_of(Collective::Allreduce, 4, 45);
  const Problem far = problem_of(Collective::Allreduce, 4, 220);
  MachineFacts file;
  file.line_ns = 50;
  file.copy_gbps = 20;
  file.cross_gbps = 11;
  file.fold_gbps = 33;
  const CostModel typical = cost_model({}, far);
  EXPECT_EQ(cost_model(file, near).cross_gbps, 11);
  EXPECT_EQ(cost_model(file, far).cross_gbps, typical.cross_gbps);
  EXPECT_EQ(cost_model(file, far).copy_gbps, 20);
  EXPECT_EQ(cost_model(file, far).fold_gbps, 33);
  EXPECT_EQ(cost_model(file, near).store_gbps, 20) << "staging is no faster than copying";
  file.fold_gbps = 0;  // as files written before it was measured
  EXPECT_EQ(cost_model(file, far).fold_gbps, typical.fold_gbps);
}

TEST(TunerCost, bandwidths_of_what_crosses_fall_with_the_line_transfer) {
  CostModel last = cost_model({}, problem_of(Collective::Allreduce, 2, 10));
  for (int line_ns = 20; line_ns <= 2000; line_ns += 10) {
    const CostModel now = cost_model({}, problem_of(Collective::Allreduce, 2, line_ns));
    EXPECT_LE(now.cross_gbps, last.cross_gbps) << line_ns;
    EXPECT_LE(now.store_gbps, last.store_gbps) << line_ns;
    EXPECT_LE(now.retake_gbps, last.retake_gbps) << line_ns;
    EXPECT_GT(now.line_us, last.line_us) << line_ns;
    last = now;
  }
}

TEST(TunerCost, the_slowest_pe_is_among_those_that_are_asked) {
  const auto weight = [](const Traffic& t) {
    return 1e4 * static_cast<double>(t.words) + static_cast<double>(t.bytes_stored) +
           static_cast<double>(t.bytes_loaded) + 0.5 * static_cast<double>(t.bytes_folded);
  };
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (int pes = 1; pes <= 40; ++pes) {
      Problem problem = problem_of(static_cast<Collective>(c), pes, 45, Memory::Symmetric);
      problem.shared_address_space = true;
      problem.count = 300 * kKi;
      for (const Algorithm* algorithm : library().of(problem.collective)) {
        if (algorithm->supports(problem) != nullptr) continue;
        const Params params = initial_params(*algorithm);
        double slowest = 0;
        double asked = 0;
        for (int pe = 0; pe < pes; ++pe) {
          slowest = std::max(slowest, weight(algorithm->traffic(problem, params, pe)));
        }
        for (const int pe : telling_pes(pes)) {
          asked = std::max(asked, weight(algorithm->traffic(problem, params, pe)));
        }
        EXPECT_GE(asked, 0.95 * slowest) << algorithm->name << ", " << describe(problem);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::detail
