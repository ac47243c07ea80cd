// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/tune/grid.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {

/// What a sweep measures next, as its plan and its points say: first the grid, best use first, and
/// at its end once more what gave no point; then what the present regime lacks of it, since the
/// line transfer may have moved meanwhile; then crossovers. Does not measure anything itself.
class Agenda {
 public:
  /// `problem` says what a cell is on the team that is swept. `points` grow while the sweep runs;
  /// what they have already is not measured again. All of it must outlive the agenda.
  Agenda(const SweepPlan& plan, std::function<Problem(const Cell&)> problem,
         const std::vector<MeasuredPoint>& points);

  struct Step {
    Cell cell;
    double seconds = 0;
    /// What won at the sizes below and above: whether it goes on winning must be seen.
    std::vector<std::string> neighbours;
  };
  /// Nothing if that is all, or the time that is left is too short for anything.
  std::optional<Step> next(double left_seconds);
  /// The step was measured, and the points that it gave, if any, are among the others.
  void done(const Cell& cell, bool gave_points);

  bool grid_complete() const { return measured_ == to_do_.size(); }
  /// "  12 of 176", or "more     3" after the grid.
  std::string progress() const;

 private:
  bool is_about(const MeasuredPoint& point, const Cell& cell) const;
  bool is_known(const Cell& cell, std::string_view regime = {}) const;
  bool was_tried(const Cell& cell) const;
  std::string_view present_regime() const;
  std::optional<Cell> next_gap() const;
  std::optional<Cell> next_crossover() const;
  std::vector<std::string> neighbours_of(const Cell& cell) const;

  const SweepPlan& plan_;
  std::function<Problem(const Cell&)> problem_;
  const std::vector<MeasuredPoint>& points_;
  std::vector<Cell> grid_;
  std::vector<Cell> to_do_;  ///< of the grid, and again what gave no point
  std::size_t first_pass_ = 0;
  std::size_t measured_ = 0;  ///< of `to_do_`
  std::vector<Cell> more_;    ///< measured after them
  double least_seconds_ = 0;
  double last_seconds_ = 0;
};

}  // namespace tutti::bench
