// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/cliffs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "bench/tune/choosing.hpp"
#include "bench/tune/curves.hpp"
#include "bench/tune/kinds.hpp"

namespace tutti::bench {
namespace {

constexpr int kNearLine = 40;

std::optional<Curves> measured_curves(const Problem& kind, const Tuning& file) {
  for (const Row& row : rows_of(file.points)) {
    Problem measured = problem_of(*row.front());
    if (!alike(measured, kind)) continue;
    measured.shared_address_space = kind.shared_address_space;
    Curves curves(measured, file.machine);  // the model knows the line transfer that was measured
    curves.add(row);
    return curves;
  }
  return std::nullopt;
}

Curves curves_of(const Problem& kind, const Tuning& file) {
  if (auto measured = measured_curves(kind, file)) return *measured;
  if (kind.line_ns == 0) {  // not known counts as near, in the rules too
    Problem near = kind;
    near.line_ns = kNearLine;
    if (auto measured = measured_curves(near, file)) return *measured;
  }
  Curves curves(kind, file.machine);
  for (const Rule& rule : file.rules) {
    if (!rule.evidence) continue;
    Problem problem = kind;
    problem.count = rule.evidence->bytes / grain_of(kind);
    if (rule.matches(problem)) curves.add(rule);
  }
  return curves;
}

bool can_go_on(const Explanation& choice, const Problem& problem) {
  return choice.algorithm->supports(problem) == nullptr;
}

void append_cliffs(Problem problem, const std::vector<std::uint64_t>& sizes, const Tuning& file,
                   std::vector<Cliff>& all) {
  const Curves curves = curves_of(problem, file);
  for (const std::uint64_t size : sizes) {
    problem = of_size(problem, size);
    if (problem.count < 2) continue;
    Problem below = problem;
    --below.count;
    const Explanation before = explain(below, file);
    const Explanation after = explain(problem, file);
    if (before.where != Where::File && after.where != Where::File) continue;
    const std::string first = describe(*before.algorithm, before.params);
    const std::string second = describe(*after.algorithm, after.params);
    if (first == second || !can_go_on(before, problem)) continue;
    const auto ratio = curves.ratio(first, bytes_of(below), second, bytes_of(problem));
    if (!ratio || !is_cliff(*ratio)) continue;
    all.push_back({problem, bytes_of(problem), first, second, *ratio, ratio->measured});
  }
}

/// Without parameters where all have their initial values.
std::string short_choice(Collective collective, const std::string& choice) {
  const Forced parsed = parse_choice(collective, choice, "cliff");
  return parsed.params == initial_params(*parsed.algorithm) ? parsed.algorithm->name : choice;
}

/// Whether there is the same cliff in the near regime, where the rules were measured.
bool is_told_of_near(const Cliff& cliff, const std::vector<Cliff>& all) {
  return cliff.problem.line_ns == 0 && std::ranges::any_of(all, [&](const Cliff& other) {
           Problem problem = other.problem;
           problem.line_ns = 0;
           return regime_of(other.problem.line_ns) == "near" && problem == cliff.problem &&
                  other.before == cliff.before && other.after == cliff.after;
         });
}

}  // namespace

std::vector<Cliff> cliffs(const Tuning& file) {
  std::vector<const Rule*> rules;
  for (const Rule& rule : file.rules) rules.push_back(&rule);
  const std::vector<std::uint64_t> sizes = sizes_of(rules);
  std::vector<Cliff> all;
  for (const Problem& kind : kinds_of(rules, measured_on_threads(file))) {
    append_cliffs(kind, sizes, file, all);
  }
  std::vector<Cliff> told;
  std::ranges::copy_if(all, std::back_inserter(told),
                       [&](const Cliff& cliff) { return !is_told_of_near(cliff, all); });
  return told;
}

std::string to_string(const Cliff& cliff) {
  const Problem& problem = cliff.problem;
  const bool folds = reduces(problem.collective);
  const std::string times = cliff.measured
                                ? fmt::format("{:.2f} [{:.2f}, {:.2f}]", cliff.ratio.median,
                                              cliff.ratio.low, cliff.ratio.high)
                                : fmt::format("about {:.2f}", cliff.ratio.median);
  return fmt::format(
      "{} {} {}{}{}, {} PEs, {}: at {} bytes {} takes {} times as long as {} one element below{}",
      name_of(problem.collective), name_of(problem.dtype),
      folds ? std::string(name_of(problem.op)) + ' ' : "", name_of(problem.memory),
      folds ? ' ' + std::string(name_of(problem.contract)) : "", problem.pes,
      regime_of(problem.line_ns), cliff.bytes, short_choice(problem.collective, cliff.after), times,
      short_choice(problem.collective, cliff.before), cliff.measured ? "" : " (predicted)");
}

}  // namespace tutti::bench
