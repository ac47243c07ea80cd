// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/tune/choosing.hpp"
#include "bench/tune/embedded.hpp"
#include "tutti/error.hpp"

namespace tutti::bench {
namespace {

using Json = nlohmann::ordered_json;
using Status = MeasuredCandidate::Status;

std::string_view algorithm_of(std::string_view choice) {
  return choice.substr(0, choice.find(':'));
}

Json interval(const Interval& us) { return Json::array({us.median, us.low, us.high}); }

/// The time in the row's first cycle, or null.
Json time_of(const std::vector<CycleTime>& times) {
  return times.empty() ? Json(nullptr) : interval(times[0].us);
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
  return fmt::format(
      "{} {} {}{} memory, {} PEs, {}", name_of(point.collective), name_of(point.dtype),
      reduces(point.collective) ? std::string(name_of(point.op)) + " " : "", name_of(point.memory),
      point.pes, regime_of(static_cast<int>(std::lround(point.line_ns))));
}

Json series_of(const Row& row, const std::string& algorithm) {
  Json times = Json::array();
  Json choices = Json::array();
  bool any = false;
  for (const MeasuredPoint* point : row) {
    const MeasuredCandidate* best = best_of(*point, algorithm);
    any = any || best != nullptr;
    times.push_back(best ? time_of(best->times) : Json(nullptr));
    choices.push_back(best ? Json(best->choice) : Json(nullptr));
  }
  if (!any) return nullptr;
  return {{"name", algorithm}, {"times", times}, {"choices", choices}};
}

Json candidates_of(const Row& row) {
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

Json row_data(const Row& row) {
  Json data = {{"title", title_of(*row[0])}, {"contract", name_of(row[0]->contract)}};
  Json points = Json::array();
  const std::vector<const MeasuredCandidate*> won = winners(row);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const MeasuredPoint& point = *row[i];
    Json each = {{"bytes", point.bytes},
                 {"rounds", point.rounds},
                 {"dropped", point.dropped},
                 {"line_ns", point.line_ns},
                 {"bound_us", point.bound_us},
                 {"mpi", time_of(point.mpi)},
                 {"builtin", point.builtin},
                 {"winner", nullptr},
                 {"winner_time", nullptr},
                 {"vs_builtin", nullptr},
                 {"rule", false}};
    if (won[i] != nullptr) {
      each["winner"] = won[i]->choice;
      each["winner_time"] = time_of(won[i]->times);
      if (won[i]->vs_builtin) each["vs_builtin"] = interval(*won[i]->vs_builtin);
      each["rule"] = deserves_rule(point, *won[i]);
    }
    points.push_back(std::move(each));
  }
  data["points"] = std::move(points);
  data["series"] = Json::array();
  for (const std::string& name : algorithms_in(row)) {
    Json series = series_of(row, name);
    if (!series.is_null()) data["series"].push_back(std::move(series));
  }
  data["problems"] = candidates_of(row);
  return data;
}

std::string range_text(const Range& range) {
  if (!range.low && !range.high) return "all";
  if (range.low == range.high) return std::to_string(*range.low);
  return fmt::format("{} to {}", range.low ? std::to_string(*range.low) : "0",
                     range.high ? std::to_string(*range.high) : "any");
}

Json rule_data(const Rule& rule) {
  Json data = {{"collective", name_of(rule.collective)},
               {"pes", range_text(rule.pes)},
               {"bytes", range_text(rule.bytes)},
               {"line_ns", range_text(rule.line_ns)},
               {"dtype", rule.dtype ? name_of(*rule.dtype) : "all"},
               {"memory", rule.memory ? name_of(*rule.memory) : "all"},
               {"choice", describe(*rule.algorithm, rule.params)},
               {"evidence", nullptr}};
  if (rule.evidence) {
    const Evidence& e = *rule.evidence;
    data["evidence"] = fmt::format("{:.3g} us ({:.3g} to {:.3g}), {} rounds", e.median_us,
                                   e.ci95_us[0], e.ci95_us[1], e.rounds);
    if (e.vs_builtin) {
      data["evidence"] = data["evidence"].get<std::string>() +
                         fmt::format("; built-in choice took {:.2f} times as long", *e.vs_builtin);
    }
  }
  return data;
}

Json machine_data(const Tuning& file) {
  const MachineFacts& m = file.machine;
  Json data = {{"CPU", m.cpu},
               {"cores", m.cores},
               {"L2 KiB", m.l2_kib},
               {"L3 KiB", m.l3_kib},
               {"instruction sets", m.instruction_sets},
               {"copy GB/s", fmt::format("{:.1f}", m.copy_gbps)},
               {"line transfer ns", fmt::format("{:.0f}", m.line_ns)},
               {"Tutti", m.tutti},
               {"baseline", m.mpi},
               {"binding", m.binding},
               {"date", m.date}};
  if (file.sweep) {
    std::string cycles;
    for (const Cycle cycle : file.sweep->cycles) {
      cycles += (cycles.empty() ? "" : ", ") + std::string(name_of(cycle));
    }
    data["cycles"] = cycles;
    data["sweep"] = fmt::format("{:.0f} of {:.0f} s{}", file.sweep->used_s, file.sweep->budget_s,
                                file.sweep->complete ? "" : ", not complete");
  }
  return data;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string safe_in_script(std::string json) {
  replace_all(json, "<", "\\u003c");  // no text can close the script element
  return json;
}

std::string report_data(const Tuning& file, const std::string& title) {
  Json data = {{"kind", "Tuning report"}, {"title", title}, {"machine", machine_data(file)}};
  data["rows"] = Json::array();
  for (const Row& row : rows_of(file.points)) data["rows"].push_back(row_data(row));
  data["rules"] = Json::array();
  for (const Rule& rule : file.rules) data["rules"].push_back(rule_data(rule));
  return safe_in_script(data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

std::string report_page(const Tuning& file, const std::string& title) {
  return page_with(report_data(file, title));
}

std::string page_with(std::string_view data) {
  if (embedded::chart_library().empty()) {
    throw Error(ErrorCode::Unsupported,
                "this tutti-tune was built without Chart.js (Debian package libjs-chart.js): no "
                "report");
  }
  std::string page(embedded::page());
  const auto insert = [&](std::string_view mark, std::string_view text) {
    const std::size_t at = page.find(mark);
    page.replace(at, mark.size(), text);
  };
  insert("{{library}}", embedded::chart_library());
  insert("{{licence}}", embedded::chart_licence());
  insert("{{data}}", data);  // last: whatever a file says is not looked at
  return page;
}

}  // namespace tutti::bench
