// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/integers.hpp"
#include "collectives/tuner/json.hpp"
#include "collectives/tuner/json_tree.hpp"
#include "collectives/tuner/json_values.hpp"
#include "collectives/tuner/suggest.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

constexpr IntegerRule kPesRule = {1, kMostPes};
constexpr IntegerRule kBytesRule = {0, std::numeric_limits<std::uint64_t>::max(), true};
constexpr IntegerRule kLineRule = {0, kMostLineNs};
constexpr IntegerRule kCountRule = {0, std::uint64_t{1} << 48};

/// Before anything else, so that a file of another schema is not blamed for its keys.
void check_schema(const JsonValue& root) {
  root.expect(JsonNode::Kind::Object, "an object");
  const auto& keys = root.node.keys;
  const auto found = std::ranges::find(keys, "tutti_tuning", &JsonNode::Key::name);
  if (found == keys.end()) {
    root.refuse(fmt::format("missing key 'tutti_tuning', the schema; this library reads schema {}",
                            kTuningSchema));
  }
  const auto index = static_cast<std::size_t>(found - keys.begin());
  const JsonValue schema{root.source, root.node.items[index], "tutti_tuning"};
  if (const std::uint64_t number = schema.integer({}); number != kTuningSchema) {
    schema.refuse(
        fmt::format("schema {} is not known; this library reads schema {}", number, kTuningSchema));
  }
}

MachineFacts read_machine(const JsonValue& value) {
  const JsonObject object(value, kMachineKeys);
  const auto text = [&](std::string_view key) {
    return object.has(key) ? object.at(key).string() : std::string();
  };
  const auto count = [&](std::string_view key) {
    return object.has(key) ? object.at(key).integer(kCountRule) : 0;
  };
  const auto real = [&](std::string_view key) {
    return object.has(key) ? object.at(key).real() : 0.0;
  };
  MachineFacts machine;
  machine.cpu = text("cpu");
  machine.cores = count("cores");
  machine.l2_kib = count("l2_kib");
  machine.l3_kib = count("l3_kib");
  machine.instruction_sets = text("instruction_sets");
  machine.copy_gbps = real("copy_gbps");
  machine.cross_gbps = real("cross_gbps");
  machine.fold_gbps = real("fold_gbps");
  machine.line_ns = real("line_ns");
  machine.tutti = text("tutti");
  machine.mpi = text("mpi");
  machine.binding = text("binding");
  machine.date = text("date");
  return machine;
}

Evidence read_evidence(const JsonValue& value, Collective collective, const Catalog& catalog) {
  const JsonObject object(value, kEvidenceKeys);
  Evidence evidence;
  if (object.has("bytes")) evidence.bytes = object.at("bytes").integer(kBytesRule);
  evidence.median_us = object.at("median_us").real();
  evidence.ci95_us = object.at("ci95_us").interval();
  evidence.rounds = object.at("rounds").integer(kCountRule);
  if (object.has("vs_builtin")) evidence.vs_builtin = object.at("vs_builtin").real();
  if (object.has("runner_up")) {
    const JsonValue runner_up = object.at("runner_up");
    evidence.runner_up = runner_up.string();
    if (catalog.find(collective, evidence.runner_up) == nullptr) {
      runner_up.refuse(unknown_name(fmt::format("algorithm of {}", name_of(collective)),
                                    evidence.runner_up, catalog.names(collective)));
    }
  }
  if (object.has("runner_up_ratio")) {
    evidence.runner_up_ratio = object.at("runner_up_ratio").interval();
  }
  return evidence;
}

const Algorithm* read_algorithm(const JsonValue& value, Collective collective,
                                const Catalog& catalog) {
  const std::string& name = value.string();
  const Algorithm* algorithm = catalog.find(collective, name);
  if (algorithm == nullptr) {
    value.refuse(unknown_name(fmt::format("algorithm of {}", name_of(collective)), name,
                              catalog.names(collective)));
  }
  return algorithm;
}

Params read_params(const JsonValue& value, const Algorithm& algorithm) {
  value.expect(JsonNode::Kind::Object, "an object");
  Params params = initial_params(algorithm);
  for (std::size_t i = 0; i < value.node.keys.size(); ++i) {
    const JsonNode::Key& key = value.node.keys[i];
    const int index = parameter_index(algorithm, key.name);
    if (index < 0) {
      value.source.refuse(key.offset, value.path, unknown_parameter(algorithm, key.name));
    }
    const JsonValue item{value.source, value.node.items[i],
                         fmt::format("{}.{}", value.path, key.name)};
    const auto slot = static_cast<std::size_t>(index);
    params[slot] = item.parameter(algorithm.parameters[slot]);
  }
  return params;
}

Rule read_rule(const JsonValue& value, const Catalog& catalog) {
  const JsonObject object(value, kRuleKeys);
  const auto range = [&](std::string_view key, const IntegerRule& rule) {
    return object.has(key) ? object.at(key).range(rule) : Range{};
  };
  Rule rule;
  rule.collective = object.at("collective").enumerator<Collective>("collective", kCollectives);
  rule.pes = range("pes", kPesRule);
  rule.nodes = range("nodes", kPesRule);
  rule.bytes = range("bytes", kBytesRule);
  rule.line_ns = range("line_ns", kLineRule);
  if (object.has("dtype")) rule.dtype = object.at("dtype").enumerator<DType>("dtype", kDTypes + 1);
  if (object.has("op")) rule.op = object.at("op").enumerator<Op>("op", kOps + 1);
  if (object.has("memory")) rule.memory = object.at("memory").enumerator<Memory>("memory", 2);
  if (object.has("contract")) {
    rule.contract = object.at("contract").enumerator<Contract>("contract", 2);
  }
  rule.algorithm = read_algorithm(object.at("algorithm"), rule.collective, catalog);
  rule.params = object.has("params") ? read_params(object.at("params"), *rule.algorithm)
                                     : initial_params(*rule.algorithm);
  if (object.has("evidence")) {
    rule.evidence = read_evidence(object.at("evidence"), rule.collective, catalog);
  }
  rule.origin = fmt::format("{}:{} {}", value.source.name(), value.source.line(value.node.offset),
                            value.path);
  return rule;
}

}  // namespace

Tuning parse_tuning(std::string_view text, std::string_view origin_name, const Catalog& catalog) {
  const JsonSource source(text, origin_name);
  if (text.size() > kMostFileBytes) {
    source.refuse(
        0, "", fmt::format("{} bytes; a tuning file has at most {}", text.size(), kMostFileBytes));
  }
  const JsonNode tree = parse_json_tree(source);
  const JsonValue root{source, tree, ""};
  check_schema(root);
  const JsonObject object(root, kFileKeys);
  Tuning tuning;
  if (object.has("machine")) tuning.machine = read_machine(object.at("machine"));
  const JsonValue rules = object.at("rules");
  rules.expect(JsonNode::Kind::Array, "a list of rules");
  for (std::size_t i = 0; i < rules.node.items.size(); ++i) {
    tuning.rules.push_back(read_rule(rules.item(i), catalog));
  }
  if (object.has("sweep")) {
    tuning.sweep = read_sweep({object.at("sweep"), kSweepKeys}, catalog);
  }
  if (object.has("points")) {
    const JsonValue points = object.at("points");
    points.expect(JsonNode::Kind::Array, "a list of points");
    for (std::size_t i = 0; i < points.node.items.size(); ++i) {
      tuning.points.push_back(read_point({points.item(i), kPointKeys}, catalog));
    }
  }
  return tuning;
}

}  // namespace tutti::detail
