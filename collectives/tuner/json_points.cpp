// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/choice.hpp"
#include "collectives/tuner/json.hpp"
#include "collectives/tuner/json_values.hpp"
#include "collectives/tuner/suggest.hpp"
#include "tutti/error.hpp"
#include "tutti/measured.hpp"

namespace tutti::detail {
namespace {

using Kind = JsonNode::Kind;
using Status = MeasuredCandidate::Status;

constexpr IntegerRule kPesRule = {1, kMostPes};
constexpr IntegerRule kBytesRule = {0, std::numeric_limits<std::uint64_t>::max(), true};
constexpr IntegerRule kCountRule = {0, std::uint64_t{1} << 48};
constexpr IntegerRule kRevisionRule = {0, std::numeric_limits<std::uint32_t>::max()};

/// The name of what an object's i-th key holds, where names are data.
JsonValue item_of(const JsonValue& object, std::size_t i) {
  return {object.source, object.node.items[i],
          fmt::format("{}.{}", object.path, object.node.keys[i].name)};
}

/// {"same": [median, low, high], ...}
std::vector<CycleTime> read_times(const JsonValue& value) {
  value.expect(Kind::Object, "an object with a time for each cycle");
  std::vector<CycleTime> times;
  for (std::size_t i = 0; i < value.node.items.size(); ++i) {
    CycleTime time;
    try {
      time.cycle = cycle_from(value.node.keys[i].name);
    } catch (const Error& error) {
      value.source.refuse(value.node.keys[i].offset, value.path, error.what());
    }
    time.us = item_of(value, i).estimate();
    times.push_back(time);
  }
  return times;
}

std::string read_choice(const JsonValue& value, Collective collective, const Catalog& catalog) {
  const std::string& choice = value.string();
  try {
    parse_choice(collective, choice, "choice", catalog);
  } catch (const Error& error) {
    value.refuse(error.what());
  }
  return choice;
}

MeasuredCandidate read_candidate(const JsonObject& object, Collective collective,
                                 const Catalog& catalog) {
  MeasuredCandidate candidate;
  candidate.choice = read_choice(object.at("choice"), collective, catalog);
  candidate.status = object.at("status").enumerator<Status>("status", kStatuses);
  if (object.has("reason")) candidate.reason = object.at("reason").string();
  if (candidate.status != Status::Measured && candidate.reason.empty()) {
    object.value().refuse("missing key 'reason': why it was not measured");
  }
  if (object.has("regret")) candidate.regret = object.at("regret").real();
  if (object.has("vs_builtin")) candidate.vs_builtin = object.at("vs_builtin").estimate();
  if (object.has("times_us")) candidate.times = read_times(object.at("times_us"));
  return candidate;
}

}  // namespace

SweepFacts read_sweep(const JsonObject& object, const Catalog& catalog) {
  SweepFacts sweep;
  sweep.budget_s = object.at("budget_s").real();
  sweep.used_s = object.at("used_s").real();
  sweep.complete = object.at("complete").boolean();
  const JsonValue cycles = object.at("cycles");
  cycles.expect(Kind::Array, "a list of cycles");
  for (std::size_t i = 0; i < cycles.node.items.size(); ++i) {
    sweep.cycles.push_back(cycles.item(i).enumerator<Cycle>("cycle", kCycles));
  }
  const JsonValue all = object.at("algorithms");
  all.expect(Kind::Object, "an object");
  for (std::size_t c = 0; c < all.node.items.size(); ++c) {
    const JsonNode::Key& key = all.node.keys[c];
    Collective collective{};
    try {
      collective = collective_from(key.name);
    } catch (const Error& error) {
      all.source.refuse(key.offset, all.path, error.what());
    }
    const JsonValue revisions = item_of(all, c);
    revisions.expect(Kind::Object, "an object with the revision of each algorithm");
    for (std::size_t i = 0; i < revisions.node.items.size(); ++i) {
      const JsonNode::Key& name = revisions.node.keys[i];
      if (catalog.find(collective, name.name) == nullptr) {
        revisions.source.refuse(name.offset, revisions.path,
                                unknown_name(fmt::format("algorithm of {}", name_of(collective)),
                                             name.name, catalog.names(collective)));
      }
      sweep.algorithms.push_back(
          {collective, name.name, item_of(revisions, i).integer(kRevisionRule)});
    }
  }
  return sweep;
}

MeasuredPoint read_point(const JsonObject& object, const Catalog& catalog) {
  MeasuredPoint point;
  point.collective = object.at("collective").enumerator<Collective>("collective", kCollectives);
  point.pes = static_cast<int>(object.at("pes").integer(kPesRule));
  point.bytes = object.at("bytes").integer(kBytesRule);
  point.dtype = object.at("dtype").enumerator<DType>("dtype", kDTypes);
  point.op = object.at("op").enumerator<Op>("op", kOps);
  point.memory = object.at("memory").enumerator<Memory>("memory", 2);
  point.contract = object.at("contract").enumerator<Contract>("contract", 2);
  point.line_ns = object.at("line_ns").real();
  point.rounds = object.at("rounds").integer(kCountRule);
  point.dropped = object.at("dropped").integer(kCountRule);
  if (object.has("bound_us")) point.bound_us = object.at("bound_us").real();
  if (object.has("mpi_us")) point.mpi = read_times(object.at("mpi_us"));
  const JsonValue candidates = object.at("candidates");
  candidates.expect(Kind::Array, "a list of candidates");
  for (std::size_t i = 0; i < candidates.node.items.size(); ++i) {
    point.candidates.push_back(
        read_candidate({candidates.item(i), kCandidateKeys}, point.collective, catalog));
  }
  const JsonValue builtin = object.at("builtin");
  point.builtin = read_choice(builtin, point.collective, catalog);
  return point;
}

}  // namespace tutti::detail
