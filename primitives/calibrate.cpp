// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include "primitives/fault.hpp"
#include "primitives/team_state.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t kBatches = 5;

std::atomic_ref<std::uint64_t> ping_of(Block& words, int pe) {
  return word_at(words.readable(pe) + offsetof(TeamWords, ping));
}

}  // namespace

// Each ball carries a number that was never used before, so words are only ever raised. A ball
// publishes nothing but itself.
double TeamState::measure_line_ns(std::uint64_t rounds) {
  using Clock = std::chrono::steady_clock;
  double slowest = 0;
  for (int other = 1; other < pes() && world_->waiting().spins() > 0; ++other) {
    std::array<double, kBatches> one_way{};
    for (double& batch : one_way) {
      const auto start = Clock::now();
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        if (me_ != 0 && me_ != other) continue;
        const int partner = me_ == 0 ? other : 0;
        const auto arrived = [&] { return ping_of(*words_, partner).load() >= pings_ + round; };
        const WaitSite site{this, "measure_line_ns", -1, partner, {}};
        if (me_ == other) world_->waiting().until(arrived, site);
        ping_of(*words_, me_).exchange(pings_ + round);
        world_->ring_one(member(partner));
        if (me_ == 0) world_->waiting().until(arrived, site);
      }
      pings_ += rounds;
      const std::chrono::duration<double, std::nano> took = Clock::now() - start;
      batch = took.count() / (2.0 * static_cast<double>(rounds));
    }
    std::ranges::nth_element(one_way, one_way.begin() + kBatches / 2);
    slowest = std::max(slowest, one_way[kBatches / 2]);
  }
  if (const auto told = line_ns_here()) slowest = *told;
  std::vector<double> all(static_cast<std::size_t>(pes()));
  lane(0).exchange(&slowest, sizeof slowest, all.data());
  return all[0];
}

}  // namespace tutti::detail
