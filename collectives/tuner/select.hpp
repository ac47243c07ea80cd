// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// All that may decide, beside the problem; equal on all PEs of a team. Refers, does not own.
struct SelectorInput {
  const Catalog* catalog = nullptr;
  const Forced* call = nullptr;              ///< what the call insists on, if anything
  std::span<const Forced> environment = {};  ///< at most one a collective
  std::span<const Rule> file = {};
  std::span<const Rule> built_in = {};
};

/// What runs, and who said so.
struct Decision {
  const Algorithm* algorithm = nullptr;
  Params params;
  Where where = Where::BuiltIn;
  const Rule* rule = nullptr;         ///< nullptr where no rule decided
  std::string origin;                 ///< the rule's, or who insisted
  std::uint64_t hash = 0;             ///< of collective, algorithm and parameters
  std::vector<std::string> warnings;  ///< rules of the file that matched and could not be followed
};

/// Chooses: call > environment > file > built-in rules > the first of the catalog that can. A pure
/// function: equal arguments, equal decision.
/// Errors: `Tuning` if a forced choice cannot solve the problem; `Unsupported` if nothing can.
Decision select(const Problem& problem, const SelectorInput& input);

/// Why the algorithm cannot solve the problem within its contract, or nullptr.
const char* why_not(const Algorithm& algorithm, const Problem& problem);

/// "allreduce of 4096 bytes (1024 f32, sum), private, consistent, 2 PEs on 1 node, line 45 ns"
std::string describe(const Problem& problem);

/// The facts of a problem in 16 bytes, without loss for 1 to 65536 PEs and nodes and line_ns below
/// 2^17, and elements of a program's own below 2^48.
struct DecisionKey {
  std::uint64_t facts = 0;
  std::uint64_t count = 0;
  friend bool operator==(const DecisionKey&, const DecisionKey&) = default;
};

constexpr DecisionKey key_of(const Problem& problem) noexcept {
  std::uint64_t facts = 0;
  const auto append = [&facts](auto value, int bits) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    facts = (facts << bits) | (static_cast<std::uint64_t>(value) & mask);
  };
  static_assert(kCollectives <= 16);
  append(problem.collective, 4);
  append(problem.dtype, 4);
  // An operation of the program's own goes with its type and has no name but this.
  const bool user = problem.dtype == DType::User;
  append(user ? static_cast<unsigned>(problem.commutative) : static_cast<unsigned>(problem.op), 3);
  append(problem.memory, 1);
  append(problem.contract, 1);
  append(problem.reachable, 1);
  append(problem.shared_address_space, 1);
  append(problem.pes - 1, 16);
  append(problem.nodes - 1, 16);
  append(problem.line_ns, 17);
  return {facts, user ? problem.count | (problem.element_bytes - 1) << 48 : problem.count};
}

/// What was derived from the last problems (a decision, a plan), so that a repeated call costs one
/// comparison. A plain table with one place for each key: no allocation, no search. What a call
/// insisted on does not belong here. Not thread-safe.
template <class Value>
class DecisionCache {
 public:
  /// nullptr if the problem has to be selected.
  const Value* find(const DecisionKey& key) const noexcept {
    const Entry& entry = entries_[place_of(key)];
    return entry.used && entry.key == key ? &entry.value : nullptr;
  }
  /// Valid until the next `insert` or `clear`.
  const Value& insert(const DecisionKey& key, Value value) {
    Entry& entry = entries_[place_of(key)];
    entry = {key, true, std::move(value)};
    return entry.value;
  }
  /// When rules change.
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    DecisionKey key;
    bool used = false;
    Value value;
  };
  static constexpr int kPlaceBits = 4;

  static std::size_t place_of(const DecisionKey& key) noexcept {
    constexpr std::uint64_t kMixCount = 0x9E3779B97F4A7C15u;
    constexpr std::uint64_t kMixFacts = 0xD1B54A32D192ED03u;
    const std::uint64_t mixed = (key.facts ^ (key.count * kMixCount)) * kMixFacts;
    return static_cast<std::size_t>(mixed >> (64 - kPlaceBits));
  }

  std::array<Entry, std::size_t{1} << kPlaceBits> entries_;
};

}  // namespace tutti::detail
