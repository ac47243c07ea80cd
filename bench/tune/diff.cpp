// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/diff.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "bench/tune/choosing.hpp"

namespace tutti::bench {
namespace {

constexpr std::uint64_t kSmallest = 8;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
constexpr std::array<int, 3> kRegimes = {40, 100, 200};

void add_rules(const Tuning& file, std::vector<const Rule*>& rules) {
  for (const Rule& rule : file.rules) rules.push_back(&rule);
}

/// Where something may change along a range of numbers.
void add_ends(const Range& range, std::uint64_t initial, std::set<std::uint64_t>& ends) {
  ends.insert(range.low.value_or(initial));
  if (range.high && *range.high < kLargest) ends.insert(*range.high);
}

template <class Fact>
std::vector<Fact> facts_or(const std::set<Fact>& named, std::initializer_list<Fact> usual) {
  std::set<Fact> all = named;
  if (all.empty()) all.insert(usual);
  return {all.begin(), all.end()};
}

/// One problem of each kind that some rule speaks about; counts are still open.
std::vector<Problem> kinds_of(const std::vector<const Rule*>& rules) {
  std::vector<Problem> kinds;
  std::set<Collective> collectives;
  for (const Rule* rule : rules) collectives.insert(rule->collective);
  for (const Collective collective : collectives) {
    std::set<std::uint64_t> pes;
    std::set<std::uint64_t> nodes;
    std::set<DType> types;
    std::set<Op> ops;
    for (const Rule* rule : rules) {
      if (rule->collective != collective) continue;
      add_ends(rule->pes, 2, pes);
      add_ends(rule->nodes, 1, nodes);
      if (rule->dtype) types.insert(*rule->dtype);
      if (rule->op) ops.insert(*rule->op);
    }
    std::vector<Contract> contracts = {Contract::Consistent};
    if (reduces(collective)) contracts.push_back(Contract::Ordered);
    for (const std::uint64_t p : pes) {
      for (const std::uint64_t n : nodes) {
        for (const DType type : facts_or(types, {DType::F32})) {
          for (const Op op : facts_or(ops, {Op::Sum})) {
            for (const Memory memory : {Memory::Private, Memory::Symmetric}) {
              for (const Contract contract : contracts) {
                for (const int line_ns : kRegimes) {
                  Problem kind;
                  kind.collective = collective;
                  kind.dtype = type;
                  kind.op = op;
                  kind.memory = memory;
                  kind.contract = contract;
                  kind.reachable = n == 1;
                  kind.pes = static_cast<int>(p);
                  kind.nodes = static_cast<int>(n);
                  kind.line_ns = line_ns;
                  kinds.push_back(kind);
                }
              }
            }
          }
        }
      }
    }
  }
  return kinds;
}

/// Sizes at which a choice may begin.
std::vector<std::uint64_t> sizes_of(const std::vector<const Rule*>& rules) {
  std::set<std::uint64_t> sizes;
  for (std::uint64_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) sizes.insert(bytes);
  for (const Rule* rule : rules) {
    if (rule->bytes.low) sizes.insert(*rule->bytes.low);
    if (rule->bytes.high && *rule->bytes.high < kLargest) sizes.insert(*rule->bytes.high + 1);
  }
  return {sizes.begin(), sizes.end()};
}

std::size_t grain_of(Problem problem) {
  problem.count = 1;
  return bytes_of(problem);
}

bool bits_may_change(const Explanation& before, const Explanation& after) {
  const Problem& problem = before.problem;
  if (!reduces(problem.collective) || problem.contract != Contract::Consistent) return false;
  const bool exact = is_integer(problem.dtype) || problem.op == Op::Min || problem.op == Op::Max;
  return !exact && !(before.algorithm->keeps_ordered && after.algorithm->keeps_ordered);
}

std::string full(Collective collective, const std::string& choice) {
  const Forced parsed = parse_choice(collective, choice, "point");
  return describe(*parsed.algorithm, parsed.params);
}

/// Time of a choice at a point in its first cycle.
std::optional<double> time_at(const MeasuredPoint& point, const std::string& choice) {
  for (const MeasuredCandidate& candidate : point.candidates) {
    if (candidate.times.empty() || full(point.collective, candidate.choice) != choice) continue;
    return candidate.times[0].us.median;
  }
  return std::nullopt;
}

/// The mean gain over the points of a file inside the range of a change.
std::optional<double> measured_gain(const Tuning& file, const Change& change) {
  double sum = 0;
  int found = 0;
  for (const MeasuredPoint& point : file.points) {
    const Problem problem = problem_of(point);
    Problem like = change.problem;
    like.count = problem.count;
    like.line_ns = problem.line_ns;
    const bool same_regime = regime_of(problem.line_ns) == regime_of(change.problem.line_ns);
    if (like != problem || !same_regime) continue;
    if (point.bytes < change.low || point.bytes > change.high) continue;
    const auto before = time_at(point, change.before);
    const auto after = time_at(point, change.after);
    if (!before || !after || *after <= 0) continue;
    sum += std::log(*before / *after);
    ++found;
  }
  if (found == 0) return std::nullopt;
  return std::exp(sum / found);
}

void expect_gain(Change& change, const Tuning& before, const Tuning& after, double predicted) {
  std::optional<double> gain = measured_gain(after, change);
  if (!gain) gain = measured_gain(before, change);
  change.measured = gain.has_value();
  change.gain = gain.value_or(predicted);
}

void append_changes(Problem problem, const std::vector<std::uint64_t>& sizes, const Tuning& before,
                    const Tuning& after, std::vector<Change>& all) {
  std::vector<Change> mine;
  std::vector<double> predicted;
  bool follows = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t grain = grain_of(problem);
    problem.count = (sizes[i] + grain - 1) / grain;
    const Explanation old = explain(problem, before);
    const Explanation now = explain(problem, after);
    const std::string was = describe(*old.algorithm, old.params);
    const std::string is = describe(*now.algorithm, now.params);
    const std::size_t high = i + 1 < sizes.size() ? sizes[i + 1] - 1 : kLargest;
    if (was == is) {
      follows = false;
      continue;
    }
    if (follows && mine.back().before == was && mine.back().after == is) {
      mine.back().high = high;
      continue;
    }
    Change change{problem, sizes[i], high, was, is, 1, false, bits_may_change(old, now)};
    mine.push_back(change);
    predicted.push_back(old.predicted_us / now.predicted_us);
    follows = true;
  }
  for (std::size_t i = 0; i < mine.size(); ++i) expect_gain(mine[i], before, after, predicted[i]);
  all.insert(all.end(), mine.begin(), mine.end());
}

}  // namespace

std::vector<Change> changes(const Tuning& before, const Tuning& after) {
  std::vector<const Rule*> rules;
  add_rules(before, rules);
  add_rules(after, rules);
  const std::vector<std::uint64_t> sizes = sizes_of(rules);
  std::vector<Change> all;
  for (const Problem& kind : kinds_of(rules)) append_changes(kind, sizes, before, after, all);
  return all;
}

}  // namespace tutti::bench
