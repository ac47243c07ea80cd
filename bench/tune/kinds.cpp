// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/kinds.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>

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
                  kind.shared_address_space = threads && n == 1;
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

bool measured_on_threads(const Tuning& file) {
  return std::ranges::any_of(file.points, [](const MeasuredPoint& point) {
    return problem_of(point).shared_address_space;
  });
}

}  // namespace tutti::bench
