// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "tutti/problem.hpp"

namespace tutti::detail {

/// The facts of a problem in 16 bytes, without loss for 1 to 65536 PEs and nodes and line_ns below
/// 2^17, and elements of a program's own below 2^48.
struct DecisionKey {
  std::uint64_t facts = 0;
  std::uint64_t count = 0;
  friend bool operator==(const DecisionKey&, const DecisionKey&) = default;
};

/// Equal to no problem's key.
inline constexpr DecisionKey kNoProblem{~std::uint64_t{0}, ~std::uint64_t{0}};

constexpr DecisionKey key_of(const Problem& problem) noexcept {
  static_assert(kCollectives < 16, "kNoProblem is the key of none");
  static_assert(kDTypes <= 16 && kOps <= 8);
  const auto bit = [](auto value, int at) { return static_cast<std::uint64_t>(value) << at; };
  const auto number = [](int value, int bits, int at) {
    return (static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1)) << at;
  };
  // An operation of the program's own goes with its type and has no name but this.
  const bool user = problem.dtype == DType::User;
  const auto op =
      user ? static_cast<unsigned>(problem.commutative) : static_cast<unsigned>(problem.op);
  // Pairs, so that the processor need not wait for one before the next.
  const std::uint64_t what = (bit(problem.collective, 0) | bit(problem.dtype, 4)) |
                             (bit(op & 7u, 8) | bit(problem.memory, 11));
  const std::uint64_t how = (bit(problem.contract, 12) | bit(problem.reachable, 13)) |
                            bit(problem.shared_address_space, 14);
  const std::uint64_t where =
      (number(problem.pes - 1, 16, 15) | number(problem.nodes - 1, 16, 31)) |
      number(problem.line_ns, 17, 47);
  return {what | how | where,
          user ? problem.count | (problem.element_bytes - 1) << 48 : problem.count};
}

/// What was derived from the last problems (a decision, a plan), so that a repeated call costs a
/// few comparisons: no allocation, no lock. Not thread-safe.
///
/// Invariants: 1. a problem has `kWays` places, and the one used longest ago makes room: what is
/// among the last `kWays` different problems is always known. 2. The place that is looked at first
/// differs between the problems that share places, so that most are found there.
template <class Value>
class DecisionCache {
 public:
  static constexpr std::size_t kPlaces = 64;
  static constexpr std::size_t kWays = 8;  ///< their keys are two cache lines

  DecisionCache() { keys_.fill(kNoProblem); }

  /// nullptr if the problem has to be selected. Valid until the next `insert` or `clear`.
  Value* find(const DecisionKey& key) noexcept {
    const std::size_t home = home_of(key);
    for (std::size_t way = 0; way < kWays; ++way) {
      const std::size_t place = home ^ way;
      if (keys_[place] != key) continue;
      used_[place] = ++now_;
      return values_[place].get();
    }
    return nullptr;
  }
  /// Of a key that `find` does not know.
  Value& insert(const DecisionKey& key, Value value) {
    const std::size_t home = home_of(key);
    std::size_t oldest = home;  // a place that was never used is the oldest of all
    for (std::size_t way = 1; way < kWays; ++way) {
      if (used_[home ^ way] < used_[oldest]) oldest = home ^ way;
    }
    values_[oldest] = std::make_unique<Value>(std::move(value));
    keys_[oldest] = key;
    used_[oldest] = ++now_;
    return *values_[oldest];
  }
  /// When rules change.
  void clear() { *this = {}; }

 private:
  static_assert(kPlaces % kWays == 0 && (kWays & (kWays - 1)) == 0, "home ^ way stays among them");

  static std::size_t home_of(const DecisionKey& key) noexcept {
    constexpr std::uint64_t kMixCount = 0x9E3779B97F4A7C15u;
    constexpr std::uint64_t kMixFacts = 0xD1B54A32D192ED03u;
    const std::uint64_t mixed = (key.facts ^ (key.count * kMixCount)) * kMixFacts;
    return static_cast<std::size_t>(mixed >> 32) % kPlaces;
  }

  alignas(64) std::array<DecisionKey, kPlaces> keys_;
  std::array<std::uint64_t, kPlaces> used_{};
  std::array<std::unique_ptr<Value>, kPlaces> values_;
  std::uint64_t now_ = 0;
};

}  // namespace tutti::detail
