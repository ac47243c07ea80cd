// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workload.hpp"
#include "tutti/tuning.hpp"

/// What a file promises, and whether measurements bear it out: pure functions.
namespace tutti::bench {

/// What a measurement says of a rule: its interval lies above 1, below it (and the median by more
/// than the margin of equivalence), or neither.
enum class Verdict : std::uint8_t { Holds, Undecided, Worse };
Verdict verdict_of(const Interval& vs_builtin);
std::string_view name_of(Verdict verdict);

/// The size at which a rule is checked: that of its evidence, else the middle of its range.
std::size_t size_to_check(const Rule& rule);

/// How much worse than the best candidate a choice is: its time over the best one's, the geometric
/// mean over the cycles, which is what a sweep optimises. The best is chosen on one half of the
/// rounds, the ratio is the other half's.
struct Loss {
  Interval ratio;
  std::string best;           ///< the best candidate
  Cycle cycle = Cycle::Same;  ///< in which the choice falls farthest behind it
};

/// A point that was not in the sweep; its `builtin` is the file's choice there.
struct HeldOut {
  MeasuredPoint point;
  Loss loss;
};

/// Whether the file was measured in the regime of a point, for this kind of problem: only then it
/// promises anything about it.
bool covers(const Tuning& file, const MeasuredPoint& point);

/// Sizes halfway between the neighbours that the sweep measured.
std::vector<Cell> held_out_cells(const Tuning& file, int pes);

/// Of the point's `builtin` choice; nothing if it was not measured.
std::optional<Loss> loss_of(const MeasuredPoint& point);

/// The promise: within 10 % of the best at 95 % of the points, within 25 % at all.
struct RegretSummary {
  std::size_t points = 0;
  double within_10_percent = 0;  ///< the part of the points, 0 to 1
  double worst = 0;
  bool kept = false;
};
RegretSummary summarize(const std::vector<HeldOut>& all);

}  // namespace tutti::bench
