// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/bench_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/tune/report_page.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The rows of one kind in one regime by size, with one row an algorithm.
using Sizes = std::map<std::size_t, std::vector<const BenchRow*>>;

Json triple(const Interval& us) { return Json::array({us.median, us.low, us.high}); }

const BenchRow* automatic(const std::vector<const BenchRow*>& rows) {
  const auto found = std::ranges::find(rows, "auto", &BenchRow::algorithm);
  return found == rows.end() ? nullptr : *found;
}

/// The fastest that was right; the tuner's choice counts as what it chose.
const BenchRow* fastest(const std::vector<const BenchRow*>& rows) {
  const BenchRow* best = nullptr;
  for (const BenchRow* row : rows) {
    if (row->wrong == 0 && (best == nullptr || row->us.median < best->us.median)) best = row;
  }
  return best;
}

std::string name_of_choice(const BenchRow& row) {
  if (row.algorithm == "auto") return row.ran.empty() ? "auto" : row.ran;
  return row.algorithm.empty() ? row.kind : row.algorithm;
}

Json point_of(std::size_t bytes, const std::vector<const BenchRow*>& rows, std::size_t rounds) {
  const BenchRow* best = fastest(rows);
  const BenchRow* chosen = automatic(rows);
  const BenchRow* any = best != nullptr ? best : rows.front();
  Json point = {{"bytes", bytes},
                {"rounds", rounds},
                {"dropped", any->dropped},
                {"line_ns", any->line_ns},
                {"bound_us", any->bound_us},
                {"mpi", any->mpi_us.median > 0 ? triple(any->mpi_us) : Json(nullptr)},
                {"builtin", chosen != nullptr ? name_of_choice(*chosen) : ""},
                {"winner", nullptr},
                {"winner_time", nullptr},
                {"vs_builtin", nullptr},
                {"rule", false}};
  if (best == nullptr) return point;
  point["winner"] = name_of_choice(*best);
  point["winner_time"] = triple(best->us);
  if (chosen != nullptr) {
    point["vs_builtin"] = triple({chosen->us.median / best->us.median,
                                  chosen->us.low / best->us.high, chosen->us.high / best->us.low});
  }
  return point;
}

Json series_of(const Sizes& sizes, const std::string& algorithm) {
  Json times = Json::array();
  Json choices = Json::array();
  for (const auto& [bytes, rows] : sizes) {
    const auto found = std::ranges::find(rows, algorithm, &BenchRow::algorithm);
    times.push_back(found == rows.end() ? Json(nullptr) : triple((*found)->us));
    choices.push_back(found == rows.end() ? Json(nullptr) : Json(name_of_choice(**found)));
  }
  return {{"name", algorithm.empty() ? "this" : algorithm}, {"times", times}, {"choices", choices}};
}

Json chart_of(const std::string& title, const Sizes& sizes, std::size_t rounds) {
  Json chart = {{"title", title}, {"points", Json::array()}, {"series", Json::array()}};
  chart["problems"] = Json::array();
  std::set<std::string> algorithms;
  for (const auto& [bytes, rows] : sizes) {
    chart["points"].push_back(point_of(bytes, rows, rounds));
    for (const BenchRow* row : rows) {
      algorithms.insert(row->algorithm);
      if (row->wrong == 0) continue;
      chart["problems"].push_back(fmt::format("{}: {} elements were wrong", row->name, row->wrong));
    }
  }
  for (const std::string& name : algorithms) chart["series"].push_back(series_of(sizes, name));
  return chart;
}

}  // namespace

std::string bench_page_data(const BenchFile& file, const std::string& title) {
  std::map<std::pair<std::string, std::string>, Sizes> charts;
  for (const BenchRow& row : file.rows) {
    if (row.bytes == 0) continue;
    const auto regime = regime_of(static_cast<int>(std::lround(row.line_ns)));
    charts[{row.kind, std::string(regime)}][row.bytes].push_back(&row);
  }
  Json data = {{"kind", "Benchmark report"},
               {"title", title},
               {"machine",
                {{"measured by", file.machine},
                 {"PEs", file.pes == 0 ? Json("not said") : Json(file.pes)},
                 {"cycle", file.cycle.empty() ? "not said" : file.cycle},
                 {"date", file.date}}},
               {"rows", Json::array()}};
  for (const auto& [key, sizes] : charts) {
    const std::string name = fmt::format("{}, {}", key.first, key.second);
    data["rows"].push_back(chart_of(name, sizes, file.rounds));
  }
  return safe_in_script(data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

std::string bench_page(const BenchFile& file, const std::string& title) {
  return page_with(bench_page_data(file, title));
}

}  // namespace tutti::bench
