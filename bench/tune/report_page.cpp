// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/report_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/tune/choosing.hpp"
#include "bench/tune/embedded.hpp"
#include "bench/tune/report_rows.hpp"
#include "bench/tune/rule_text.hpp"
#include "tutti/error.hpp"

namespace tutti::bench {
namespace {

using Json = nlohmann::ordered_json;

Json rule_data(const Rule& rule) {
  const bool folds = reduces(rule.collective);
  return {{"collective", name_of(rule.collective)},
          {"pes", to_text(rule.pes)},
          {"nodes", to_text(rule.nodes)},
          {"bytes", to_text(rule.bytes)},
          {"line_ns", to_text(rule.line_ns)},
          {"dtype", to_text(rule.dtype)},
          {"op", folds ? to_text(rule.op) : ""},
          {"memory", to_text(rule.memory)},
          {"contract", folds ? to_text(rule.contract) : ""},
          {"choice", describe(*rule.algorithm, rule.params)},
          {"evidence", evidence_text(rule)}};
}

std::string bandwidth(double gbps) {
  return gbps > 0 ? fmt::format("{:.1f}", gbps) : std::string("not known");
}

Json machine_data(const Tuning& file) {
  const MachineFacts& m = file.machine;
  Json data = {{"CPU", m.cpu},
               {"cores", m.cores},
               {"L2 KiB", m.l2_kib},
               {"L3 KiB", m.l3_kib},
               {"instruction sets", m.instruction_sets},
               {"copy GB/s", bandwidth(m.copy_gbps)},
               {"dirty lines of another core GB/s", bandwidth(m.cross_gbps)},
               {"fold GB/s", bandwidth(m.fold_gbps)},
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
  Json data = {{"kind", "Tuning report"},
               {"title", title},
               {"chosen", "built-in"},
               {"machine", machine_data(file)}};
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
