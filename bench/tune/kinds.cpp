// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/kinds.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <utility>

#include "bench/tune/choosing.hpp"

namespace tutti::bench {
namespace {

constexpr std::array<int, 3> kRegimes = {40, 100, 200};

/// Where something may change along a range of numbers.
void add_ends(const Range& range, std::uint64_t initial, std::set<std::uint64_t>& ends) {
  ends.insert(range.low.value_or(initial));
  if (range.high && *range.high < kLargestKind) ends.insert(*range.high);
}

template <class Fact>
std::vector<Fact> facts_or(const std::set<Fact>& named, std::initializer_list<Fact> usual) {
  std::set<Fact> all = named;
  if (all.empty()) all.insert(usual);
  return {all.begin(), all.end()};
}

/// Each kind with each fact.
template <class Facts, class Set>
void each(std::vector<Problem>& kinds, const Facts& facts, Set&& set) {
  std::vector<Problem> all;
  for (const Problem& kind : kinds) {
    for (const auto fact : facts) set(all.emplace_back(kind), fact);
  }
  kinds = std::move(all);
}

}  // namespace

std::vector<Problem> kinds_of(std::span<const Rule* const> rules, bool threads) {
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
    std::vector<Problem> mine(1);
    mine[0].collective = collective;
    each(mine, pes, [](Problem& kind, std::uint64_t p) { kind.pes = static_cast<int>(p); });
    each(mine, nodes, [threads](Problem& kind, std::uint64_t n) {
      kind.nodes = static_cast<int>(n);
      kind.reachable = n == 1;
      kind.shared_address_space = threads && n == 1;
    });
    each(mine, facts_or(types, {DType::F32}), [](Problem& kind, DType t) { kind.dtype = t; });
    each(mine, facts_or(ops, {Op::Sum}), [](Problem& kind, Op op) { kind.op = op; });
    each(mine, std::array{Memory::Private, Memory::Symmetric},
         [](Problem& kind, Memory memory) { kind.memory = memory; });
    each(mine, contracts, [](Problem& kind, Contract contract) { kind.contract = contract; });
    each(mine, kRegimes, [](Problem& kind, int line_ns) { kind.line_ns = line_ns; });
    kinds.insert(kinds.end(), mine.begin(), mine.end());
  }
  return kinds;
}

bool has_meaning(const Problem& problem) {
  const bool bitwise = problem.op == Op::And || problem.op == Op::Or || problem.op == Op::Xor;
  if (!reduces(problem.collective)) return true;
  if ((problem.dtype == DType::User) != (problem.op == Op::User)) return false;
  return !bitwise || problem.dtype == DType::User || is_integer(problem.dtype);
}

std::vector<std::uint64_t> sizes_of(std::span<const Rule* const> rules) {
  std::set<std::uint64_t> sizes;
  for (std::uint64_t bytes = kSmallestKind; bytes <= kLargestKind; bytes *= 2) sizes.insert(bytes);
  for (const Rule* rule : rules) {
    if (rule->bytes.low) sizes.insert(*rule->bytes.low);
    if (rule->bytes.high && *rule->bytes.high < kLargestKind) sizes.insert(*rule->bytes.high + 1);
  }
  return {sizes.begin(), sizes.end()};
}

std::size_t grain_of(Problem problem) {
  problem.count = 1;
  return bytes_of(problem);
}

Problem of_size(Problem kind, std::size_t bytes) {
  const std::size_t grain = grain_of(kind);
  kind.count = (bytes + grain - 1) / grain;
  return kind;
}

bool alike(Problem a, const Problem& b) {
  const bool same_regime = regime_of(a.line_ns) == regime_of(b.line_ns);
  a.count = b.count;
  a.line_ns = b.line_ns;
  a.shared_address_space = b.shared_address_space;
  return same_regime && a == b;
}

bool measured_on_threads(const Tuning& file) {
  return std::ranges::any_of(file.points, [](const MeasuredPoint& point) {
    return problem_of(point).shared_address_space;
  });
}

}  // namespace tutti::bench
