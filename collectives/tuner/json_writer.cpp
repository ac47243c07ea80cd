// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "collectives/tuner/json.hpp"
#include "collectives/tuner/json_line.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/error.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

using detail::finite;

Json to_value(const std::optional<std::uint64_t>& end) { return end ? Json(*end) : Json(nullptr); }

Json to_value(const std::array<double, 2>& interval, std::string_view what) {
  return Json::array({finite(interval[0], what), finite(interval[1], what)});
}

void put_range(Json& object, const char* key, const Range& range) {
  if (range == Range{}) return;
  object[key] = Json::array({to_value(range.low), to_value(range.high)});
}

template <class Enum>
void put_name(Json& object, const char* key, const std::optional<Enum>& value) {
  if (value) object[key] = name_of(*value);
}

void put_text(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

Json to_object(const MachineFacts& machine) {
  Json object = Json::object();
  const auto put_count = [&](const char* key, std::uint64_t count) {
    if (count != 0) object[key] = count;
  };
  const auto put_real = [&](const char* key, double value) {
    if (value != 0) object[key] = finite(value, key);
  };
  put_text(object, "cpu", machine.cpu);
  put_count("cores", machine.cores);
  put_count("l2_kib", machine.l2_kib);
  put_count("l3_kib", machine.l3_kib);
  put_text(object, "instruction_sets", machine.instruction_sets);
  put_real("copy_gbps", machine.copy_gbps);
  put_real("cross_gbps", machine.cross_gbps);
  put_real("fold_gbps", machine.fold_gbps);
  put_real("line_ns", machine.line_ns);
  put_text(object, "tutti", machine.tutti);
  put_text(object, "mpi", machine.mpi);
  put_text(object, "binding", machine.binding);
  put_text(object, "date", machine.date);
  return object;
}

Json to_object(const Algorithm& algorithm, const Params& params) {
  Json object = Json::object();
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const Parameter& parameter = algorithm.parameters[i];
    if (parameter.choices.empty()) {
      object[parameter.name] = params[i];
    } else {
      object[parameter.name] = parameter.choices[static_cast<std::size_t>(params[i])];
    }
  }
  return object;
}

Json to_object(const Evidence& evidence) {
  Json object = Json::object();
  if (evidence.bytes != 0) object["bytes"] = evidence.bytes;
  object["median_us"] = finite(evidence.median_us, "median_us");
  object["ci95_us"] = to_value(evidence.ci95_us, "ci95_us");
  object["rounds"] = evidence.rounds;
  if (evidence.vs_builtin) object["vs_builtin"] = finite(*evidence.vs_builtin, "vs_builtin");
  put_text(object, "runner_up", evidence.runner_up);
  if (evidence.runner_up_ratio) {
    object["runner_up_ratio"] = to_value(*evidence.runner_up_ratio, "runner_up_ratio");
  }
  return object;
}

Json to_object(const Rule& rule) {
  Json object = Json::object();
  object["collective"] = name_of(rule.collective);
  put_range(object, "pes", rule.pes);
  put_range(object, "nodes", rule.nodes);
  put_range(object, "bytes", rule.bytes);
  put_name(object, "dtype", rule.dtype);
  put_name(object, "op", rule.op);
  put_name(object, "memory", rule.memory);
  put_name(object, "contract", rule.contract);
  put_range(object, "line_ns", rule.line_ns);
  object["algorithm"] = rule.algorithm->name;
  if (!rule.algorithm->parameters.empty()) {
    object["params"] = to_object(*rule.algorithm, rule.params);
  }
  if (rule.evidence) object["evidence"] = to_object(*rule.evidence);
  return object;
}

}  // namespace

std::string to_json(const Tuning& tuning) {
  std::string text =
      fmt::format("{{\"tutti_tuning\": {},\n \"machine\": {},\n ", detail::kTuningSchema,
                  detail::json_line(to_object(tuning.machine)));
  if (tuning.sweep) text += "\"sweep\": " + detail::sweep_text(*tuning.sweep) + ",\n ";
  text += "\"rules\": [";
  for (std::size_t i = 0; i < tuning.rules.size(); ++i) {
    text.append(i == 0 ? "\n  " : ",\n  ").append(detail::json_line(to_object(tuning.rules[i])));
  }
  text += "]";
  for (std::size_t i = 0; i < tuning.points.size(); ++i) {
    text.append(i == 0 ? ",\n \"points\": [\n  " : ",\n  ");
    text.append(detail::point_text(tuning.points[i]));
  }
  return text + (tuning.points.empty() ? "}\n" : "]}\n");
}

}  // namespace tutti
