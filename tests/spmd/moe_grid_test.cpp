// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "support/moe_check.hpp"

namespace tutti::tests {
namespace {

template <class T, std::size_t kSize>
T pick(const std::array<T, kSize>& values, std::uint64_t seed, std::uint64_t what) {
  return values[mixed(seed, what) % kSize];
}

/// One point of the grid, chosen by a seed.
struct Case {
  explicit Case(std::uint64_t number) : seed(number) {
    pes = pick(std::array{1, 2, 3, 4, 5}, seed, 1);
    shape.experts = pick(std::array{1, 3, 4, 8, 13, 32}, seed, 2);
    shape.topk = pick(std::array{1, 2, 4, 10}, seed, 3);
    shape.hidden = pick(std::array<std::size_t, 5>{1, 7, 100, 129, 2880}, seed, 4);
    dtype = pick(std::array{DType::F32, DType::BF16, DType::F16}, seed, 5);
    router = pick(std::array{Router::Random, Router::Random, Router::OneExpert, Router::Repeated},
                  seed, 6);
    padding = pick(std::array{1, 1, 4, 8, 32}, seed, 7);
    loopback = mixed(seed, 8) % 3 == 0;
    table = mixed(seed, 9) % 3 == 0;
    masked = mixed(seed, 10) % 2 == 0;
    keep = mixed(seed, 11) % 2 == 0;
    style.output_rows = mixed(seed, 12) % 2 == 0;
    style.narrow_ids = mixed(seed, 13) % 2 == 0;
    style.gap = pick(std::array<std::size_t, 3>{0, 1, 13}, seed, 14);
    style.late_weights = mixed(seed, 15) % 4 == 0;
    shape.owner = balanced_owners(shape.experts, pes);
    if (table) {
      for (std::size_t e = 0; e < shape.owner.size(); ++e) {
        shape.owner[e] = static_cast<int>(mixed(seed, 16, e) % static_cast<std::uint64_t>(pes));
      }
    }
    style.name = text();
  }

  std::string text() const {
    std::ostringstream name;
    name << "seed " << seed << " pes " << pes << " E " << shape.experts << " K " << shape.topk
         << " H " << shape.hidden << ' ' << name_of(dtype) << " router " << static_cast<int>(router)
         << " padding " << padding << (loopback ? " loopback" : "") << (table ? " table" : "")
         << (masked ? " masked" : "") << (keep ? " keep" : "")
         << (style.output_rows ? " output_rows" : " foreign") << " gap " << style.gap;
    return name.str();
  }

  std::uint64_t seed;
  int pes = 1;
  MoeShape shape;
  DType dtype = DType::F32;
  Router router = Router::Random;
  int padding = 1;
  bool loopback = false;
  bool table = false;
  bool masked = false;
  bool keep = false;
  MoeStyle style;
};

constexpr std::size_t kMaxTokens = 9;
constexpr int kRounds = 3;

template <class T>
void run_case(const Case& c) {
  moe::PlanOptions options = options_for(c.shape, kMaxTokens, c.dtype);
  if (!c.table) options.placement.clear();
  options.padding = c.padding;
  options.lane = static_cast<int>(c.seed % 4);
  options.inactive = c.keep ? moe::Inactive::Keep : moe::Inactive::Zero;
  // Repeated ids may need more rows than distinct ones.
  options.max_rows = kMaxTokens * static_cast<std::size_t>(c.pes * c.shape.topk);
  std::vector<std::vector<MoeBatch<T>>> rounds;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<MoeBatch<T>> batches;
    for (int pe = 0; pe < c.pes; ++pe) {
      const std::uint64_t at = c.seed * kRounds + round;
      const std::size_t tokens = mixed(at, static_cast<std::uint64_t>(pe)) % (kMaxTokens + 1);
      batches.push_back(make_batch<T>(c.shape, at, pe, tokens, c.masked, c.router));
    }
    rounds.push_back(std::move(batches));
  }
  Options world;
  world.loopback = c.loopback;
  world.loopback_seed = c.seed;
  run(
      c.pes,
      [&](Team& team) {
        moe::Plan plan(team, options);
        for (const auto& batches : rounds) check_round(team, plan, c.shape, batches, c.style);
      },
      world);
}

TEST(MoeGrid, every_element_equals_the_reference) {
  const bool full = std::getenv("TUTTI_TEST_FULL") != nullptr;
  for (std::uint64_t seed = 1; seed <= (full ? 1500u : 150u); ++seed) {
    const Case c(seed);
    SCOPED_TRACE(c.style.name);
    if (c.dtype == DType::F32) run_case<float>(c);
    if (c.dtype == DType::BF16) run_case<bf16>(c);
    if (c.dtype == DType::F16) run_case<f16>(c);
    if (HasFailure()) return;
  }
}

TEST(MoeGrid, bits_do_not_depend_on_pes_or_placement) {
  constexpr std::size_t kTokens = 12;
  MoeShape shape{16, 4, 100, {}};
  const auto all = make_batch<bf16>(shape, 7, 0, kTokens, true);
  for (const int pes : {1, 2, 3, 4}) {
    for (const bool table : {false, true}) {
      shape.owner = balanced_owners(16, pes);
      for (std::size_t e = 0; table && e < 16; ++e) {
        shape.owner[e] = static_cast<int>(mixed(5, e) % static_cast<std::uint64_t>(pes));
      }
      const std::size_t each = kTokens / static_cast<std::size_t>(pes);
      std::vector<MoeBatch<bf16>> batches(static_cast<std::size_t>(pes));
      for (std::size_t i = 0; i < batches.size(); ++i) {
        const auto part = [&](const auto& from, std::size_t width) {
          const auto first = from.begin() + static_cast<std::ptrdiff_t>(i * each * width);
          return std::decay_t<decltype(from)>(first,
                                              first + static_cast<std::ptrdiff_t>(each * width));
        };
        batches[i] = {each, part(all.x, 100), part(all.ids, 4), part(all.weights, 4),
                      part(all.mask, 1)};
      }
      std::vector<std::vector<bf16>> outs(batches.size());
      run(pes, [&](Team& team) {
        moe::Plan plan(team, options_for(shape, each, DType::BF16));
        outs[static_cast<std::size_t>(team.pe())] =
            check_round(team, plan, shape, batches, {.name = "split"});
      });
      for (std::size_t i = 0; i < kTokens * 100; ++i) {
        ASSERT_EQ(outs[i / (each * 100)][i % (each * 100)].bits,
                  reference_output(shape, all, i / 100, i % 100).bits)
            << "pes " << pes << " table " << table << " element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tutti::tests
