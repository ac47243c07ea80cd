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
#include "bench/tune/report_rows.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The rows of one kind in one regime by size, with one row an algorithm.
using Sizes = std::map<std::size_t, std::vector<const BenchRow*>>;

/// Of a whole file.
struct Facts {
  std::string cycle;
  std::size_t rounds = 0;
};

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

/// A file has one cycle.
Json by_cycle(const std::string& cycle, const BenchRow* row) {
  return {{cycle, row != nullptr ? to_triple(row->us) : Json(nullptr)}};
}

Json point_of(std::size_t bytes, const std::vector<const BenchRow*>& rows, const Facts& facts) {
  const BenchRow* best = fastest(rows);
  const BenchRow* chosen = automatic(rows);
  const BenchRow* any = best != nullptr ? best : rows.front();
  Json point = {{"bytes", bytes},
                {"rounds", facts.rounds},
                {"dropped", any->dropped},
                {"line_ns", any->line_ns},
                {"bound_us", any->bound_us},
                {"mpi", {{facts.cycle, nullptr}}},
                {"chosen", chosen != nullptr ? name_of_choice(*chosen) : ""},
                {"chosen_time", by_cycle(facts.cycle, chosen)},
                {"winner", nullptr},
                {"winner_name", nullptr},
                {"winner_time", by_cycle(facts.cycle, best)},
                {"gain", nullptr},
                {"rule", false}};
  if (any->mpi_us.median > 0) point["mpi"][facts.cycle] = to_triple(any->mpi_us);
  if (best == nullptr) return point;
  point["winner"] = name_of_choice(*best);
  point["winner_name"] = algorithm_of(name_of_choice(*best));
  if (chosen != nullptr) {
    point["gain"] = to_triple({chosen->us.median / best->us.median, chosen->us.low / best->us.high,
                               chosen->us.high / best->us.low});
  }
  return point;
}

Json series_of(const Sizes& sizes, const std::string& algorithm, const std::string& cycle) {
  Json times = Json::array();
  Json choices = Json::array();
  for (const auto& [bytes, rows] : sizes) {
    const auto found = std::ranges::find(rows, algorithm, &BenchRow::algorithm);
    const BenchRow* row = found == rows.end() ? nullptr : *found;
    times.push_back(by_cycle(cycle, row));
    choices.push_back(row == nullptr ? Json(nullptr) : Json(name_of_choice(*row)));
  }
  return {{"name", algorithm.empty() ? "this" : algorithm}, {"times", times}, {"choices", choices}};
}

Json chart_of(const std::string& kind, std::string_view regime, const Sizes& sizes,
              const Facts& facts) {
  Json chart = {{"title", fmt::format("{}, {}", kind, regime)},
                {"collective", kind.substr(0, kind.find('/'))},
                {"cycles", Json::array({facts.cycle})},
                {"cycle", facts.cycle},
                {"points", Json::array()},
                {"series", Json::array()},
                {"problems", Json::array()}};
  std::set<std::string> algorithms;
  for (const auto& [bytes, rows] : sizes) {
    chart["points"].push_back(point_of(bytes, rows, facts));
    for (const BenchRow* row : rows) {
      algorithms.insert(row->algorithm);
      if (row->wrong == 0) continue;
      chart["problems"].push_back(fmt::format("{}: {} elements were wrong", row->name, row->wrong));
    }
  }
  for (const std::string& name : algorithms) {
    chart["series"].push_back(series_of(sizes, name, facts.cycle));
  }
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
  const Facts facts = {file.cycle.empty() ? "not said" : file.cycle, file.rounds};
  Json data = {{"kind", "Benchmark report"},
               {"title", title},
               {"chosen", "auto"},
               {"machine",
                {{"measured by", file.machine},
                 {"PEs", file.pes == 0 ? Json("not said") : Json(file.pes)},
                 {"cycle", facts.cycle},
                 {"date", file.date}}},
               {"rows", Json::array()}};
  for (const auto& [key, sizes] : charts) {
    data["rows"].push_back(chart_of(key.first, key.second, sizes, facts));
  }
  return safe_in_script(data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

std::string bench_page(const BenchFile& file, const std::string& title) {
  return page_with(bench_page_data(file, title));
}

}  // namespace tutti::bench
