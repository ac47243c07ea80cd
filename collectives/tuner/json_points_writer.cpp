// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/json.hpp"
#include "collectives/tuner/json_line.hpp"
#include "tutti/measured.hpp"

namespace tutti::detail {
namespace {

using Json = nlohmann::ordered_json;

Json to_value(const Interval& interval, std::string_view what) {
  return Json::array(
      {finite(interval.median, what), finite(interval.low, what), finite(interval.high, what)});
}

Json to_object(const std::vector<CycleTime>& times, std::string_view what) {
  Json object = Json::object();
  for (const CycleTime& time : times) {
    object[std::string(name_of(time.cycle))] = to_value(time.us, what);
  }
  return object;
}

Json to_object(const MeasuredCandidate& candidate) {
  Json object = Json::object();
  object["choice"] = candidate.choice;
  object["status"] = name_of(candidate.status);
  if (!candidate.reason.empty()) object["reason"] = candidate.reason;
  if (candidate.regret != 0) object["regret"] = finite(candidate.regret, "regret");
  if (candidate.vs_builtin) object["vs_builtin"] = to_value(*candidate.vs_builtin, "vs_builtin");
  if (!candidate.times.empty()) object["times_us"] = to_object(candidate.times, "times_us");
  return object;
}

}  // namespace

std::string sweep_text(const SweepFacts& sweep) {
  Json object = Json::object();
  object["budget_s"] = finite(sweep.budget_s, "budget_s");
  object["used_s"] = finite(sweep.used_s, "used_s");
  object["complete"] = sweep.complete;
  object["cycles"] = Json::array();
  for (const Cycle cycle : sweep.cycles) object["cycles"].push_back(name_of(cycle));
  Json& algorithms = object["algorithms"] = Json::object();
  for (const SweepFacts::Revision& revision : sweep.algorithms) {
    algorithms[std::string(name_of(revision.collective))][revision.algorithm] = revision.revision;
  }
  return json_line(object);
}

std::string point_text(const MeasuredPoint& point) {
  Json object = Json::object();
  object["collective"] = name_of(point.collective);
  object["pes"] = point.pes;
  object["bytes"] = point.bytes;
  object["dtype"] = name_of(point.dtype);
  object["op"] = name_of(point.op);
  object["memory"] = name_of(point.memory);
  object["contract"] = name_of(point.contract);
  object["line_ns"] = finite(point.line_ns, "line_ns");
  object["rounds"] = point.rounds;
  object["dropped"] = point.dropped;
  if (point.bound_us != 0) object["bound_us"] = finite(point.bound_us, "bound_us");
  object["builtin"] = point.builtin;
  if (!point.mpi.empty()) object["mpi_us"] = to_object(point.mpi, "mpi_us");
  object["candidates"] = Json::array();
  for (const MeasuredCandidate& candidate : point.candidates) {
    object["candidates"].push_back(to_object(candidate));
  }
  return json_line(object);
}

}  // namespace tutti::detail
