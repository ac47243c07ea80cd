// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/kinds.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bench/tune/choosing.hpp"

namespace tutti::bench {
namespace {

/// What is examined beside that which rules name. A regime each; 0 is the one that is not known.
constexpr std::array<std::uint64_t, 4> kUsualLines = {0, 40, 100, 200};
/// Powers of two, another number, and more than four: algorithms differ by these.
constexpr std::array<std::uint64_t, 4> kUsualPes = {2, 3, 4, 8};
constexpr std::uint64_t kMostPes = 65536;
constexpr std::array<DType, 4> kUsualTypes = {DType::F32, DType::BF16, DType::F64, DType::I32};
constexpr std::array<Op, 4> kUsualOps = {Op::Sum, Op::Max, Op::Prod, Op::Avg};

using Numbers = std::set<std::uint64_t>;

/// Of a range of PEs or nodes: its ends, and what begins behind it.
void add_ends(const Range& range, std::uint64_t initial, Numbers& ends) {
  ends.insert(range.low.value_or(initial));
  if (!range.high) return;
  ends.insert(*range.high);
  ends.insert(*range.high + 1);
}

/// Where along a number the rules that match change: the first number of each stretch.
Numbers cuts_of(std::span<const Rule* const> rules, Range Rule::*range) {
  Numbers cuts;
  for (const Rule* rule : rules) {
    const Range& each = rule->*range;
    if (each.low) cuts.insert(*each.low);
    if (each.high) cuts.insert(*each.high + 1);
  }
  return cuts;
}

/// The usual line transfers and one of each stretch that has none of them. 0 is no stretch's.
Numbers lines_of(std::span<const Rule* const> rules) {
  Numbers lines(kUsualLines.begin(), kUsualLines.end());
  Numbers cuts = cuts_of(rules, &Rule::line_ns);
  cuts.erase(0);
  cuts.insert(1);
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    const auto next = std::next(cut);
    const auto inside = lines.lower_bound(*cut);
    if (inside == lines.end() || (next != cuts.end() && *inside >= *next)) lines.insert(*cut);
  }
  return lines;
}

bool some_rule_is_about(std::span<const Rule* const> rules, Range Rule::*range,
                        std::uint64_t number) {
  return std::ranges::any_of(rules,
                             [&](const Rule* rule) { return (rule->*range).contains(number); });
}

/// The ends of the rules' ranges, and the usual numbers, as far as some rule is about them.
Numbers pes_of(std::span<const Rule* const> rules) {
  Numbers pes(kUsualPes.begin(), kUsualPes.end());
  for (const Rule* rule : rules) add_ends(rule->pes, 2, pes);
  std::erase_if(pes, [&](std::uint64_t each) {
    return each > kMostPes || !some_rule_is_about(rules, &Rule::pes, each);
  });
  return pes;
}

Numbers nodes_of(std::span<const Rule* const> rules) {
  Numbers nodes;
  for (const Rule* rule : rules) add_ends(rule->nodes, 1, nodes);
  std::erase_if(nodes,
                [&](std::uint64_t each) { return !some_rule_is_about(rules, &Rule::nodes, each); });
  return nodes;
}

/// What rules name, the usual one, and one that no rule names if some rule is about all: the first
/// of the usual ones that is free.
template <class Fact, std::size_t kCount>
std::vector<Fact> facts_of(std::span<const Rule* const> rules, std::optional<Fact> Rule::*fact,
                           const std::array<Fact, kCount>& usual) {
  std::set<Fact> facts;
  bool about_all = false;
  for (const Rule* rule : rules) {
    if (rule->*fact) facts.insert(*(rule->*fact));
    about_all = about_all || !(rule->*fact);
  }
  if (about_all) {
    const auto free = std::ranges::find_if(usual, [&](Fact each) { return !facts.contains(each); });
    if (free != usual.end()) facts.insert(*free);
  }
  facts.insert(usual[0]);
  return {facts.begin(), facts.end()};
}

template <class Fact>
void add(std::vector<Fact>& facts, Fact fact) {
  if (std::ranges::find(facts, fact) == facts.end()) facts.push_back(fact);
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

/// The kinds of one collective, which all rules are about.
std::vector<Problem> kinds_of_one(std::span<const Rule* const> rules, bool threads) {
  const Collective collective = rules.front()->collective;
  std::vector<DType> types = facts_of(rules, &Rule::dtype, kUsualTypes);
  std::vector<Op> ops = {Op::Sum};
  std::vector<Contract> contracts = {Contract::Consistent};
  if (reduces(collective)) {
    ops = facts_of(rules, &Rule::op, kUsualOps);
    contracts.push_back(Contract::Ordered);
    // A program's own operation and its own type come together.
    if (std::ranges::count(types, DType::User) != 0) add(ops, Op::User);
    if (std::ranges::count(ops, Op::User) != 0) add(types, DType::User);
  }
  std::vector<Problem> kinds(1);
  kinds[0].collective = collective;
  each(kinds, pes_of(rules),
       [](Problem& kind, std::uint64_t p) { kind.pes = static_cast<int>(p); });
  each(kinds, nodes_of(rules), [threads](Problem& kind, std::uint64_t n) {
    kind.nodes = static_cast<int>(n);
    kind.reachable = n == 1;
    kind.shared_address_space = threads && n == 1;
  });
  each(kinds, types, [](Problem& kind, DType type) { kind.dtype = type; });
  each(kinds, ops, [](Problem& kind, Op op) { kind.op = op; });
  each(kinds, std::array{Memory::Private, Memory::Symmetric},
       [](Problem& kind, Memory memory) { kind.memory = memory; });
  each(kinds, contracts, [](Problem& kind, Contract contract) { kind.contract = contract; });
  each(kinds, lines_of(rules),
       [](Problem& kind, std::uint64_t ns) { kind.line_ns = static_cast<int>(ns); });
  std::erase_if(kinds,
                [](const Problem& kind) { return kind.nodes > kind.pes || !has_meaning(kind); });
  return kinds;
}

}  // namespace

std::vector<Problem> kinds_of(std::span<const Rule* const> rules, bool threads) {
  std::map<Collective, std::vector<const Rule*>> by_collective;
  for (const Rule* rule : rules) by_collective[rule->collective].push_back(rule);
  std::vector<Problem> kinds;
  for (const auto& [collective, mine] : by_collective) {
    const std::vector<Problem> some = kinds_of_one(mine, threads);
    kinds.insert(kinds.end(), some.begin(), some.end());
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
