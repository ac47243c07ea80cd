// SPDX-License-Identifier: Apache-2.0
#include "fuzz/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/tuner/choice.hpp"
#include "collectives/tuner/explain.hpp"
#include "collectives/tuner/json.hpp"
#include "collectives/tuner/rules.hpp"
#include "collectives/tuner/select.hpp"
#include "primitives/text.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::tests {
namespace {

constexpr std::string_view kFile = "t.json";
constexpr std::string_view kVariable = "TUTTI_ALGORITHM";
constexpr std::size_t kMostRules = 16;  ///< whose problems are looked at
constexpr std::size_t kMostExplained = std::size_t{64} << 20;
constexpr int kMostExplainedPes = 64;
constexpr std::size_t kLongestRefusal = 2000;  ///< bytes, however long what it refuses

/// For a terminal and a log: nothing that moves the cursor or begins another line, and no end of
/// it.
bool is_one_line(std::string_view text) {
  return text.size() <= kLongestRefusal &&
         std::ranges::none_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
}

std::optional<std::size_t> take_number(std::string_view& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = detail::read_number(text.substr(0, colon), 1, 1 << 30);
  text.remove_prefix(colon + 1);
  if (!number) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

/// "t.json:LINE:COLUMN: PATH: ..." of a place that the text has.
std::string complaint_of_refusal(std::string_view text, const Error& error) {
  std::string_view said = error.what();
  if (error.code() != ErrorCode::Tuning) return fmt::format("not a tuning error: {}", said);
  if (!is_one_line(said)) return fmt::format("not one line: {}", said);
  if (!said.starts_with(kFile) || said.size() <= kFile.size()) return fmt::format("{}", said);
  std::string_view rest = said.substr(kFile.size() + 1);
  const auto line = take_number(rest);
  const auto column = take_number(rest);
  if (!line || !column || !rest.starts_with(' ')) return fmt::format("no place: {}", said);
  std::string_view at = text;
  for (std::size_t i = 1; i < *line; ++i) {
    const std::size_t end = at.find('\n');
    if (end == std::string_view::npos) return fmt::format("no such line: {}", said);
    at.remove_prefix(end + 1);
  }
  const std::string_view that_line = at.substr(0, at.find('\n'));
  return *column <= that_line.size() + 1 ? "" : fmt::format("no such column: {}", said);
}

bool is_real(double value) { return value >= 0 && value <= 1e15; }

bool is_range(const Range& range, std::uint64_t least, std::uint64_t most) {
  const std::uint64_t low = range.low.value_or(least);
  const std::uint64_t high = range.high.value_or(most);
  return least <= low && low <= high && high <= most;
}

bool is_estimate(const Interval& said) {
  return is_real(said.low) && said.low <= said.median && said.median <= said.high &&
         is_real(said.high);
}

/// What docs/tuning.md allows of a rule, told a second time.
std::string complaint_of_rule(const Rule& rule) {
  if (!is_range(rule.pes, 1, 65536) || !is_range(rule.nodes, 1, 65536)) return "pes or nodes";
  if (!is_range(rule.bytes, 0, UINT64_MAX) || !is_range(rule.line_ns, 0, 100'000)) {
    return "bytes or line_ns";
  }
  for (std::size_t i = 0; i < rule.algorithm->parameters.size(); ++i) {
    const Parameter& parameter = rule.algorithm->parameters[i];
    if (rule.params[i] < parameter.min || rule.params[i] > parameter.max) return parameter.name;
  }
  if (!rule.evidence) return {};
  const auto& [low, high] = rule.evidence->ci95_us;
  const bool good = is_real(rule.evidence->median_us) && is_real(low) && low <= high &&
                    is_real(high) && rule.evidence->rounds <= std::uint64_t{1} << 48;
  return good ? "" : "evidence";
}

std::string complaint_of_point(const MeasuredPoint& point) {
  if (point.pes < 1 || point.pes > 65536) return "pes";
  if (!is_real(point.line_ns) || !is_real(point.bound_us)) return "line_ns or bound_us";
  for (const MeasuredCandidate& candidate : point.candidates) {
    const bool measured = candidate.status == MeasuredCandidate::Status::Measured;
    if (!measured && candidate.reason.empty()) return "reason";
    if (!is_real(candidate.regret)) return "regret";
    if (candidate.vs_builtin && !is_estimate(*candidate.vs_builtin)) return "vs_builtin";
    for (const CycleTime& time : candidate.times) {
      if (!is_estimate(time.us)) return "times_us";
    }
  }
  return {};
}

std::string complaint_of_values(const Tuning& tuning) {
  for (const Rule& rule : tuning.rules) {
    const std::string what = complaint_of_rule(rule);
    if (!what.empty()) return fmt::format("accepted out of range: {} of {}", what, rule.origin);
  }
  for (std::size_t i = 0; i < tuning.points.size(); ++i) {
    const std::string what = complaint_of_point(tuning.points[i]);
    if (!what.empty()) return fmt::format("accepted out of range: {} of points[{}]", what, i);
  }
  return {};
}

int number_in(const Range& range, bool high, int otherwise) {
  const std::optional<std::uint64_t>& end = high && range.high ? range.high : range.low;
  return end ? static_cast<int>(*end) : otherwise;
}

/// The problem at one end of a rule's ranges.
Problem problem_at(const Rule& rule, bool high) {
  Problem problem;
  problem.collective = rule.collective;
  problem.dtype = rule.dtype.value_or(high ? DType::BF16 : DType::F32);
  problem.op = rule.op.value_or(Op::Sum);
  problem.memory = rule.memory.value_or(high ? Memory::Symmetric : Memory::Private);
  problem.contract = rule.contract.value_or(high ? Contract::Ordered : Contract::Consistent);
  problem.pes = number_in(rule.pes, high, 2);
  problem.nodes = number_in(rule.nodes, high, 1);
  problem.line_ns = number_in(rule.line_ns, high, 40);
  const std::optional<std::uint64_t>& bytes =
      high && rule.bytes.high ? rule.bytes.high : rule.bytes.low;
  problem.count = bytes.value_or(4096) / element_bytes(problem);
  if (has_blocks(rule.collective)) problem.count /= static_cast<std::size_t>(problem.pes);
  return problem;
}

std::string outcome(const Problem& problem, const Tuning& tuning, const detail::Catalog& catalog) {
  detail::SelectorInput input;
  input.catalog = &catalog;
  input.file = tuning.rules;
  try {
    const detail::Decision decision = detail::select(problem, input);
    const Rule* rule = decision.rule;
    if (rule != nullptr && (!rule->matches(problem) || rule->algorithm != decision.algorithm)) {
      return "a rule decides that does not match";
    }
    if (detail::why_not(*decision.algorithm, problem) != nullptr) {
      return "an algorithm is chosen that cannot";
    }
    // An algorithm's traffic is counted chunk by chunk: no answer in time for what no memory holds.
    const bool possible = bytes_of(problem) <= kMostExplained && problem.pes <= kMostExplainedPes;
    if (possible &&
        to_string(detail::explain(problem, decision, catalog, tuning.machine)).empty()) {
      return "nothing is explained";
    }
    const auto index = rule == nullptr ? -1 : rule - tuning.rules.data();
    return fmt::format("ok: rule {}, {}, {} warnings", index,
                       describe(*decision.algorithm, decision.params), decision.skipped.size());
  } catch (const Error& error) {
    return fmt::format("ok: {}", error.what());
  }
}

std::string complaint_of_decisions(const Tuning& tuning, const Tuning& again,
                                   const detail::Catalog& catalog) {
  for (std::size_t i = 0; i < std::min(tuning.rules.size(), kMostRules); ++i) {
    for (const bool high : {false, true}) {
      const Problem problem = problem_at(tuning.rules[i], high);
      const std::string first = outcome(problem, tuning, catalog);
      if (!first.starts_with("ok")) return fmt::format("rules[{}]: {}", i, first);
      const std::string second = outcome(problem, again, catalog);
      if (first != second) return fmt::format("rules[{}]: {}, then {}", i, first, second);
    }
  }
  return {};
}

}  // namespace

std::string complaint_of_tuning(std::string_view text, const detail::Catalog& catalog) {
  Tuning tuning;
  try {
    tuning = detail::parse_tuning(text, kFile, catalog);
  } catch (const Error& error) {
    return complaint_of_refusal(text, error);
  }
  if (std::string complaint = complaint_of_values(tuning); !complaint.empty()) {
    return complaint;
  }
  const std::string written = to_json(tuning);
  try {
    const Tuning again = detail::parse_tuning(written, "again.json", catalog);
    if (again != tuning) return fmt::format("does not read back as itself:\n{}", written);
    if (to_json(again) != written) return fmt::format("is written in two ways:\n{}", written);
    return complaint_of_decisions(tuning, again, catalog);
  } catch (const Error& error) {
    return fmt::format("what was written is refused: {}\n{}", error.what(), written);
  }
}

std::string complaint_of_choices(std::string_view text, const detail::Catalog& catalog) {
  std::vector<Forced> choices;
  try {
    choices = detail::parse_forced(text, kVariable, catalog);
  } catch (const Error& error) {
    const std::string_view said = error.what();
    if (error.code() != ErrorCode::Tuning) return fmt::format("not a tuning error: {}", said);
    if (!is_one_line(said)) return fmt::format("not one line: {}", said);
    return said.starts_with(kVariable) ? "" : fmt::format("no origin: {}", said);
  }
  std::string written;
  for (const Forced& choice : choices) {
    written += fmt::format("{}={};", name_of(choice.collective),
                           describe(*choice.algorithm, choice.params));
  }
  try {
    const bool same = detail::parse_forced(written, kVariable, catalog) == choices;
    return same ? "" : fmt::format("does not read back as itself: {}", written);
  } catch (const Error& error) {
    return fmt::format("what was written is refused: {}: {}", error.what(), written);
  }
}

}  // namespace tutti::tests
