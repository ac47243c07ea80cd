// SPDX-License-Identifier: Apache-2.0
#include "collectives/regime.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "primitives/fault.hpp"

namespace tutti::detail {
namespace {

/// What every PE contributes to a look; PE 0's counts.
struct Announcement {
  std::int32_t line_ns = 0;
  std::int32_t calibrate = 0;
};

/// Less is noise of the calibration.
constexpr double kMoved = 1.2;

bool moved(double now, double before) {
  return now > 0 && (now > before * kMoved || now * kMoved < before);
}

}  // namespace

Regime::Regime(TeamState& team)
    : team_(team),
      follows_(team.world().line_ns() != 0 && team.world().settings().follow_regime),
      announced_(team.world().line_ns()) {
  for (Followed& lane : lanes_) lane.line_ns = team.world().line_ns();
}

void Regime::look(int lane, std::chrono::milliseconds timeout) {
  Followed& mine = lanes_[static_cast<std::size_t>(lane)];
  // Operations in flight on this thread would be driven by the calibration's waits.
  const bool due = lane == 0 && !team_.world().fibers().any() &&
                   Clock::now() - calibrated_at_ >= calibration_pause_here();
  const Announcement said{announced_.load(std::memory_order_relaxed), due ? 1 : 0};
  std::vector<Announcement> all(static_cast<std::size_t>(team_.pes()));
  team_.lane(lane).exchange(&said, sizeof said, all.data(), timeout);
  mine.weight = 0;
  mine.line_ns = all[0].line_ns;
  if (all[0].calibrate == 0) return;
  mine.line_ns = calibrated(mine.line_ns);
  announced_.store(mine.line_ns, std::memory_order_relaxed);
  calibrated_at_ = Clock::now();
}

/// Collective. A change counts if a second measurement at once says so too.
int Regime::calibrated(int before) {
  static constexpr std::uint64_t kRounds = 20;
  if (!moved(team_.measure_line_ns(kRounds), before)) return before;
  const double again = team_.measure_line_ns(kRounds);
  if (!moved(again, before)) return before;
  if (team_.pe() == 0 && team_.world().settings().trace) {
    fmt::print(stderr,
               "tutti: team {}: the line transfer went from {} to {:.0f} ns; planned for that "
               "from call {} on\n",
               team_.name(), before, again, team_.lane(0).call() + 1);
  }
  return static_cast<int>(std::lround(again));
}

}  // namespace tutti::detail
