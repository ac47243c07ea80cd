// SPDX-License-Identifier: Apache-2.0
//
// One MoE layer of GLM-4.5's shape, split over PEs: dispatch, experts, combine. Then every PE
// computes its tokens again as one PE alone would, and compares the bits.
//
//   TUTTI_PES=2 ./moe_layer        PEs are threads
//   mpirun -n 2 ./moe_layer        PEs are processes
//
// Why the bits can be equal. Everything is a function of (PE, token, element) or of the expert, so
// every PE can make everybody's tokens and any expert's weights. A row of an expert's group is
// computed in a block of exactly kBlock columns, filled up with zeros: the matrix products have the
// same shape whatever the size of the group, so Eigen blocks them alike, and a column's sums do not
// depend on the other columns. The combine adds in k order on one PE or on many.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tutti/moe.hpp"
#include "tutti/team.hpp"
#include "tutti/types.hpp"

namespace {

using tutti::bf16;
using tutti::to_bf16;
using tutti::to_float;

constexpr int kHidden = 5120;
constexpr int kExperts = 160;
constexpr int kTopk = 8;
constexpr int kTokens = 8;  // a PE
constexpr int kInner = 64;  // GLM-4.5 has 1536
constexpr int kBlock = 4;
constexpr int kRounds = 31;

/// A number in [-1, 1) that depends on all that it is given.
float noise(std::uint32_t what, std::uint32_t a, std::uint32_t b) {
  std::uint32_t hash = what * 0x9e3779b9u ^ a * 0x85ebca6bu ^ b * 0xc2b2ae35u;
  hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
  hash = (hash ^ hash >> 12) * 0x297a2d39u;
  hash ^= hash >> 15;
  return static_cast<float>(static_cast<std::int32_t>(hash) >> 8) * 0x1p-23f;
}

/// One PE's input: tokens, and a router's choice of distinct experts with softmax weights.
struct Batch {
  explicit Batch(int pe) {
    for (int token = 0; token < kTokens; ++token) {
      const auto at = static_cast<std::uint32_t>(pe * kTokens + token);
      for (std::uint32_t h = 0; h < kHidden; ++h) x.push_back(to_bf16(noise(1, at, h)));
      std::vector<std::pair<float, int>> scores;
      scores.reserve(kExperts);
      for (int e = 0; e < kExperts; ++e) {
        scores.emplace_back(3 * noise(2, at, static_cast<std::uint32_t>(e)), e);
      }
      std::partial_sort(scores.begin(), scores.begin() + kTopk, scores.end(), std::greater<>());
      float sum = 0;
      for (int k = 0; k < kTopk; ++k) sum += std::exp(scores[static_cast<std::size_t>(k)].first);
      for (int k = 0; k < kTopk; ++k) {
        const auto& [score, expert] = scores[static_cast<std::size_t>(k)];
        ids.push_back(expert);
        weights.push_back(std::exp(score) / sum);
      }
    }
  }
  std::vector<bf16> x;            // [kTokens, kHidden]
  std::vector<std::int32_t> ids;  // [kTokens, kTopk]
  std::vector<float> weights;     // [kTokens, kTopk]
};

/// y = down * (silu(gate * x) .* (up * x)); the matrices are a function of the expert's number.
class Expert {
 public:
  void load(int expert) {
    const auto e = static_cast<std::uint32_t>(expert);
    fill(gate_, 10 + e);
    fill(up_, 1010 + e);
    fill(down_, 2010 + e);
  }

  /// rows, out: [count, kHidden]
  void run(const bf16* const* rows, bf16* const* out, std::size_t count) {
    for (std::size_t first = 0; first < count; first += kBlock) {
      const std::size_t n = std::min<std::size_t>(kBlock, count - first);
      x_.setZero();
      for (std::size_t i = 0; i < n; ++i) {
        for (int h = 0; h < kHidden; ++h) {
          x_(h, static_cast<int>(i)) = to_float(rows[first + i][h]);
        }
      }
      a_.noalias() = gate_ * x_;
      b_.noalias() = up_ * x_;
      a_ = a_.unaryExpr([](float v) { return v / (1 + std::exp(-v)); }).cwiseProduct(b_);
      y_.noalias() = down_ * a_;
      for (std::size_t i = 0; i < n; ++i) {
        for (int h = 0; h < kHidden; ++h) {
          out[first + i][h] = to_bf16(y_(h, static_cast<int>(i)));
        }
      }
    }
  }

 private:
  static void fill(Eigen::MatrixXf& matrix, std::uint32_t what) {
    for (Eigen::Index i = 0; i < matrix.size(); ++i) {
      matrix.data()[i] = 0.03f * noise(what, static_cast<std::uint32_t>(i), 7);
    }
  }
  Eigen::MatrixXf gate_{kInner, kHidden}, up_{kInner, kHidden}, down_{kHidden, kInner};
  Eigen::MatrixXf x_{kHidden, kBlock}, a_{kInner, kBlock}, b_{kInner, kBlock}, y_{kHidden, kBlock};
};

/// My experts on what a dispatch brought, straight into the memory that combine reads.
void run_experts(const tutti::moe::Plan& plan, const tutti::moe::Handle& handle, Expert& expert) {
  for (std::size_t i = 0; i < plan.local_experts().size(); ++i) {
    std::vector<const bf16*> rows;
    std::vector<bf16*> out;
    const auto first = static_cast<std::size_t>(handle.offsets()[i]);
    for (std::size_t row = first; row < first + static_cast<std::size_t>(handle.counts()[i]);
         ++row) {
      rows.push_back(handle.rows<bf16>().data() + row * kHidden);
      out.push_back(handle.output_rows<bf16>().data() + row * kHidden);
    }
    if (rows.empty()) continue;
    expert.load(plan.local_experts()[i]);
    expert.run(rows.data(), out.data(), rows.size());
  }
}

/// The tokens of PE `pe` as one PE alone computes them: the same groups, of all PEs' tokens.
std::vector<bf16> reference(const std::vector<Batch>& batches, int pe, Expert& expert) {
  const Batch& mine = batches[static_cast<std::size_t>(pe)];
  std::map<int, std::vector<bf16>> of_entry;  // entry of my [kTokens, kTopk] -> its output
  for (int e = 0; e < kExperts; ++e) {
    if (std::ranges::find(mine.ids, e) == mine.ids.end()) continue;
    std::vector<const bf16*> rows;
    std::vector<std::vector<bf16>> outputs;
    std::vector<int> entries;  // -1: of another PE
    for (const Batch& batch : batches) {
      for (int at = 0; at < kTokens * kTopk; ++at) {
        if (batch.ids[static_cast<std::size_t>(at)] != e) continue;
        rows.push_back(batch.x.data() + at / kTopk * kHidden);
        entries.push_back(&batch == &mine ? at : -1);
        outputs.emplace_back(kHidden);
      }
    }
    std::vector<bf16*> out;
    out.reserve(outputs.size());
    for (auto& each : outputs) out.push_back(each.data());
    expert.load(e);
    expert.run(rows.data(), out.data(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (entries[i] >= 0) of_entry[entries[i]] = std::move(outputs[i]);
    }
  }
  std::vector<bf16> result;
  for (int token = 0; token < kTokens; ++token) {
    for (std::size_t h = 0; h < kHidden; ++h) {
      float sum = 0;
      for (int at = token * kTopk; at < (token + 1) * kTopk; ++at) {
        sum += mine.weights[static_cast<std::size_t>(at)] * to_float(of_entry[at][h]);
      }
      result.push_back(to_bf16(sum));
    }
  }
  return result;
}

double median_us(std::vector<double>& times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void print_rows(const std::vector<Batch>& batches) {
  std::array<int, kExperts> rows{};
  for (const Batch& batch : batches) {
    for (const int id : batch.ids) ++rows[static_cast<std::size_t>(id)];
  }
  std::array<int, 5> experts{};  // with 0, 1, 2, 3, more rows
  for (const int n : rows) ++experts[static_cast<std::size_t>(std::min(n, 4))];
  std::printf("rows per expert: 0 on %d experts, 1 on %d, 2 on %d, 3 on %d, more on %d; most %d\n",
              experts[0], experts[1], experts[2], experts[3], experts[4],
              *std::ranges::max_element(rows));
}

void layer(tutti::Team& world) {
  using Clock = std::chrono::steady_clock;
  const auto us = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  std::vector<Batch> batches;
  batches.reserve(static_cast<std::size_t>(world.size()));
  for (int pe = 0; pe < world.size(); ++pe) batches.emplace_back(pe);
  const Batch& mine = batches[static_cast<std::size_t>(world.pe())];
  const bool speaks = world.pe() == 0;
  if (speaks) {
    std::printf("MoE layer, %d PEs: H %d, E %d, K %d, bf16, %d tokens a PE, inner size %d\n",
                world.size(), kHidden, kExperts, kTopk, kTokens, kInner);
    print_rows(batches);
  }

  tutti::moe::Plan plan(world, {.experts = kExperts,
                                .topk = kTopk,
                                .hidden = kHidden,
                                .max_tokens = kTokens,
                                .dtype = tutti::DType::BF16});
  const auto expert = std::make_unique<Expert>();
  std::vector<bf16> out(mine.x.size());
  std::vector<double> dispatch_us;
  std::vector<double> combine_us;
  for (int round = 0; round < kRounds; ++round) {
    world.barrier();
    const auto start = Clock::now();
    const auto handle = plan.dispatch({mine.x.data(), kTokens}, mine.ids, mine.weights);
    dispatch_us.push_back(us(Clock::now() - start));
    if (round == 0) {
      std::printf("PE %d: %zu experts, %zu rows\n", world.pe(), plan.local_experts().size(),
                  handle.total());
    }
    const bool last = round == kRounds - 1;
    if (last) {
      run_experts(plan, handle, *expert);
    } else {
      std::ranges::copy(handle.rows<bf16>(), handle.output_rows<bf16>().begin());
    }
    world.barrier();
    const auto middle = Clock::now();
    plan.combine(handle, {out.data(), kTokens});
    combine_us.push_back(us(Clock::now() - middle));
  }
  if (speaks) {
    std::printf("PE 0, median of %d rounds: dispatch %.1f us, combine %.1f us\n", kRounds,
                median_us(dispatch_us), median_us(combine_us));
  }
  const std::vector<bf16> expected = reference(batches, world.pe(), *expert);
  const auto differ = std::ranges::mismatch(out, expected);
  if (differ.in1 != out.end()) {
    const auto at = static_cast<int>(differ.in1 - out.begin());
    std::printf("identical bits: no\n");
    throw std::runtime_error("token " + std::to_string(at / kHidden) + ", element " +
                             std::to_string(at % kHidden) + ": got " +
                             std::to_string(to_float(*differ.in1)) + ", one PE computes " +
                             std::to_string(to_float(*differ.in2)));
  }
  world.barrier();  // comes back only if no PE has thrown
  if (speaks) std::printf("identical bits: yes\n");
}

}  // namespace

int main(int argc, char** argv) { return tutti::launch(argc, argv, layer); }
