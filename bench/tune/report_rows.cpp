// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/report_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/tune/curves.hpp"

namespace tutti::bench {
namespace {

using Json = nlohmann::ordered_json;
using Status = MeasuredCandidate::Status;
using Cycles = std::vector<Cycle>;

constexpr const char* kMean = "mean";

/// In which some candidate of some point was measured.
Cycles cycles_of(const Row& row) {
  std::set<Cycle> cycles;
  for (const MeasuredPoint* point : row) {
    for (const MeasuredCandidate& each : point->candidates) {
      for (const CycleTime& time : each.times) cycles.insert(time.cycle);
    }
  }
  return {cycles.begin(), cycles.end()};
}

/// Points that a short budget gave fewer cycles have no mean: it would be one of other things.
bool has_all(const std::vector<CycleTime>& times, const Cycles& cycles) {
  return std::ranges::all_of(cycles, [&](Cycle cycle) {
    return std::ranges::find(times, cycle, &CycleTime::cycle) != times.end();
  });
}

/// The times of all cycles of the row, null where there is none.
Json times_by_cycle(const std::vector<CycleTime>& times, const Cycles& cycles) {
  Json all = Json::object();
  if (cycles.size() > 1) {
    all[kMean] = has_all(times, cycles) ? to_triple(mean_of(times)) : Json(nullptr);
  }
  for (const Cycle cycle : cycles) {
    const auto found = std::ranges::find(times, cycle, &CycleTime::cycle);
    all[std::string(name_of(cycle))] = found == times.end() ? Json(nullptr) : to_triple(found->us);
  }
  return all;
}

/// The mean over the cycles if all points have it, else the first cycle.
std::string first_shown(const Row& row, const Cycles& cycles) {
  if (cycles.empty()) return kMean;
  const bool everywhere = std::ranges::all_of(row, [&](const MeasuredPoint* point) {
    return std::ranges::all_of(point->candidates, [&](const MeasuredCandidate& each) {
      return each.times.empty() || has_all(each.times, cycles);
    });
  });
  return everywhere && cycles.size() > 1 ? kMean : std::string(name_of(cycles.front()));
}

/// Of an algorithm's variants the one with the smallest regret at a point.
const MeasuredCandidate* best_of(const MeasuredPoint& point, std::string_view algorithm) {
  const MeasuredCandidate* best = nullptr;
  for (const MeasuredCandidate& each : point.candidates) {
    if (algorithm_of(each.choice) != algorithm || each.times.empty()) continue;
    if (each.status != Status::Measured) continue;
    if (best == nullptr || each.regret < best->regret) best = &each;
  }
  return best;
}

std::vector<std::string> algorithms_in(const Row& row) {
  std::vector<std::string> names;
  for (const MeasuredPoint* point : row) {
    for (const MeasuredCandidate& each : point->candidates) {
      const std::string name(algorithm_of(each.choice));
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string title_of(const MeasuredPoint& point) {
  const bool folds = reduces(point.collective);
  return fmt::format("{} {} {}{} memory, {}{} PEs, {}", name_of(point.collective),
                     name_of(point.dtype), folds ? std::string(name_of(point.op)) + " " : "",
                     name_of(point.memory),
                     folds ? std::string(name_of(point.contract)) + ", " : "", point.pes,
                     regime_of(static_cast<int>(std::lround(point.line_ns))));
}

Json series_of(const Row& row, const std::string& algorithm, const Cycles& cycles) {
  Json times = Json::array();
  Json choices = Json::array();
  bool any = false;
  for (const MeasuredPoint* point : row) {
    const MeasuredCandidate* best = best_of(*point, algorithm);
    any = any || best != nullptr;
    times.push_back(times_by_cycle(best ? best->times : std::vector<CycleTime>(), cycles));
    choices.push_back(best ? Json(best->choice) : Json(nullptr));
  }
  if (!any) return nullptr;
  return {{"name", algorithm}, {"times", times}, {"choices", choices}};
}

Json problems_of(const Row& row) {
  Json problems = Json::array();
  for (const MeasuredPoint* point : row) {
    for (const MeasuredCandidate& each : point->candidates) {
      if (!is_broken(each)) continue;
      problems.push_back(fmt::format("{} bytes: {} {}: {}", point->bytes, each.choice,
                                     name_of(each.status), each.reason));
    }
  }
  return problems;
}

Json point_data(const MeasuredPoint& point, const MeasuredCandidate* winner, const Cycles& cycles) {
  const MeasuredCandidate* builtin = find_candidate(point, point.builtin);
  const std::vector<CycleTime> none;
  Json data = {{"bytes", point.bytes},
               {"rounds", point.rounds},
               {"dropped", point.dropped},
               {"line_ns", point.line_ns},
               {"bound_us", point.bound_us},
               {"mpi", times_by_cycle(point.mpi, cycles)},
               {"chosen", point.builtin},
               {"chosen_time", times_by_cycle(builtin ? builtin->times : none, cycles)},
               {"winner", nullptr},
               {"winner_name", nullptr},
               {"winner_time", times_by_cycle(winner ? winner->times : none, cycles)},
               {"gain", nullptr},
               {"rule", false}};
  if (winner == nullptr) return data;
  data["winner"] = winner->choice;
  data["winner_name"] = algorithm_of(winner->choice);
  if (winner->vs_builtin) data["gain"] = to_triple(*winner->vs_builtin);
  data["rule"] = deserves_rule(point, *winner);
  return data;
}

}  // namespace

std::string_view algorithm_of(std::string_view choice) {
  return choice.substr(0, choice.find_first_of(": "));
}

Json to_triple(const Interval& us) { return Json::array({us.median, us.low, us.high}); }

Json row_data(const Row& row) {
  const Cycles cycles = cycles_of(row);
  Json data = {{"title", title_of(*row[0])},  {"collective", name_of(row[0]->collective)},
               {"cycles", Json::array()},     {"cycle", first_shown(row, cycles)},
               {"points", Json::array()},     {"series", Json::array()},
               {"problems", problems_of(row)}};
  for (const Cycle cycle : cycles) data["cycles"].push_back(name_of(cycle));
  const std::vector<const MeasuredCandidate*> won = winners(row);
  for (std::size_t i = 0; i < row.size(); ++i) {
    data["points"].push_back(point_data(*row[i], won[i], cycles));
  }
  for (const std::string& name : algorithms_in(row)) {
    Json series = series_of(row, name, cycles);
    if (!series.is_null()) data["series"].push_back(std::move(series));
  }
  return data;
}

}  // namespace tutti::bench
