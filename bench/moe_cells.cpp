// SPDX-License-Identifier: Apache-2.0
#include "bench/moe_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "bench/compare_blocks.hpp"
#include "tutti/moe.hpp"

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRepeats = 20;

struct Model {
  const char* name;
  int experts;
  int topk;
  std::size_t hidden;
};
/// Shapes from the models' own configurations.
constexpr std::array<Model, 4> kModels = {{{"glm45", 160, 8, 5120},
                                           {"deepseek_v3", 256, 8, 7168},
                                           {"qwen3_30b", 128, 8, 2048},
                                           {"mixtral_8x7b", 8, 2, 4096}}};

/// One PE's side of the layer. All weights of a token are 1/topk, a power of two, and an expert
/// returns what it got, so the right output is the input.
class Layer {
 public:
  Layer(Team& team, const MoeCell& cell)
      : team_(team),
        cell_(cell),
        plan_(team, {.experts = cell.experts,
                     .topk = cell.topk,
                     .hidden = cell.hidden,
                     .max_tokens = cell.tokens}),
        x_(cell.tokens * cell.hidden),
        out_(cell.tokens * cell.hidden),
        weights_(cell.tokens * static_cast<std::size_t>(cell.topk),
                 1.0F / static_cast<float>(cell.topk)) {
    std::uint32_t state = 12345 + static_cast<std::uint32_t>(team.pe());
    for (std::size_t t = 0; t < cell.tokens; ++t) {
      std::vector<std::int32_t> chosen;
      while (chosen.size() < static_cast<std::size_t>(cell.topk)) {
        state = state * 1664525 + 1013904223;
        const bool to_first = cell.hot && chosen.size() % 2 == 0;
        const int among = to_first ? std::max(cell.topk, cell.experts / team.size()) : cell.experts;
        const auto id = static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(among));
        if (std::ranges::find(chosen, id) == chosen.end()) chosen.push_back(id);
      }
      ids_.insert(ids_.end(), chosen.begin(), chosen.end());
    }
  }

  void produce(int call) {
    const auto bits = static_cast<std::uint16_t>(0x3f80 + (call + team_.pe()) % 64);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] = bf16{static_cast<std::uint16_t>(bits + i % 32)};
    }
  }
  void exchange() {
    const moe::Handle handle = plan_.dispatch({x_.data(), cell_.tokens}, ids_, weights_);
    const auto rows = handle.rows<bf16>();
    const auto outputs = handle.output_rows<bf16>();
    std::ranges::copy(rows, outputs.begin());
    plan_.combine({outputs.data(), handle.total()}, handle, {out_.data(), cell_.tokens});
  }
  /// What is left without an exchange: as many rows are copied, and the output is written.
  void touch_only() {
    std::vector<bf16>& rows = scratch_;
    rows.resize(x_.size() * static_cast<std::size_t>(cell_.topk));
    for (int k = 0; k < cell_.topk; ++k) {
      std::ranges::copy(x_, rows.begin() + static_cast<std::ptrdiff_t>(x_.size()) * k);
    }
    std::ranges::copy(x_, out_.begin());
  }
  void consume() {
    std::uint32_t sum = 0;
    for (const bf16 value : out_) sum += value.bits;
    volatile std::uint32_t sink = sum;
    static_cast<void>(sink);
  }
  std::size_t wrong() const {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) wrong += x_[i].bits != out_[i].bits ? 1 : 0;
    return wrong;
  }

 private:
  Team& team_;
  const MoeCell cell_;
  moe::Plan plan_;
  std::vector<bf16> x_;
  std::vector<bf16> out_;
  std::vector<bf16> scratch_;
  std::vector<float> weights_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

std::vector<NamedMoeCell> all_moe_cells() {
  std::vector<NamedMoeCell> all;
  for (const Model& model : kModels) {
    for (const bool hot : {false, true}) {
      for (const std::size_t tokens : {std::size_t{1}, std::size_t{8}, std::size_t{64}}) {
        all.push_back(
            {fmt::format("moe/{}/{}/auto/tokens:{}", model.name, hot ? "hot" : "uniform", tokens),
             {model.experts, model.topk, model.hidden, tokens, hot}});
      }
    }
  }
  return all;
}

PrimitiveResult measure_moe(Team& team, const MoeCell& cell, int rounds) {
  Layer layer(team, cell);
  int call = 0;
  const auto timed = [&](auto&& middle) {
    team.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < kRepeats; ++i) {
      layer.produce(++call);
      middle();
      layer.consume();
    }
    return std::chrono::duration<double>(Clock::now() - start).count() / kRepeats;
  };
  PrimitiveResult result = compare(
      team, rounds, [&] { return timed([&] { layer.exchange(); }); },
      [&](double) { return timed([&] { layer.touch_only(); }); });
  layer.produce(++call);
  layer.exchange();
  result.wrong = layer.wrong();
  result.compared_with = "beside the same rows copied without an exchange";
  return result;
}

}  // namespace tutti::bench
