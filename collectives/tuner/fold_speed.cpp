// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "collectives/kernels/fold.hpp"
#include "tutti/tuning.hpp"

namespace tutti {

double measure_fold_gbps() {
  constexpr std::size_t kBytes = std::size_t{256} << 10;
  constexpr int kRounds = 41;
  using Clock = std::chrono::steady_clock;
  const std::vector<float> a(kBytes / sizeof(float), 1);
  const std::vector<float> b(a.size(), 2);
  std::vector<float> sum(a.size());
  void* const out = sum.data();
  const std::array<const void*, 2> in = {a.data(), b.data()};
  const detail::FoldFn fold = detail::fold_kernel(DType::F32, Op::Sum);
  double fastest = 1;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    fold({.outs = &out, .n_outs = 1, .sources = in.data(), .n_sources = 2, .count = a.size()});
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return static_cast<double>(2 * kBytes) / fastest / 1e9;
}

}  // namespace tutti
