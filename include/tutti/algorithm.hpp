// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tutti/execution.hpp"
#include "tutti/problem.hpp"

namespace tutti {

/// The most parameters that one algorithm may have.
inline constexpr std::size_t kMaxParameters = 6;

/// One tunable number of an algorithm. `choices`, if any, name the values 0, 1, ... in JSON and on
/// the command line; otherwise the value is a number from `min` to `max`.
struct Parameter {
  const char* name;  ///< snake_case, with its unit: "chunk_bytes"
  std::int64_t min;
  std::int64_t max;
  std::int64_t initial;  ///< the value where nothing else is said
  const char* summary;
  std::span<const char* const> choices = {};
};

/// The values of an algorithm's parameters, in the order of its `parameters`.
struct Params {
  std::array<std::int64_t, kMaxParameters> values{};

  constexpr std::int64_t operator[](std::size_t i) const noexcept { return values[i]; }
  constexpr std::int64_t& operator[](std::size_t i) noexcept { return values[i]; }
  friend bool operator==(const Params&, const Params&) = default;
};

/// What one PE does in one call, counted by `Execution`.
struct Traffic {
  std::uint64_t words = 0;  ///< published words raised
  std::uint64_t bytes_stored =
      0;  ///< payload written to shared memory (staging, or a peer's output)
  std::uint64_t bytes_loaded = 0;  ///< payload read from peers' shared memory
  std::uint64_t bytes_folded = 0;  ///< input bytes of folds, all sources together
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// A collective algorithm: pure functions of facts that are equal on all PEs, and one body.
/// Descriptors are constants; a registry is an array of pointers to them.
struct Algorithm {
  Collective collective;
  const char* name;     ///< one snake_case word, the same in registry, JSON, tests and docs
  const char* summary;  ///< one line
  const char* source;   ///< paper or standard
  bool keeps_ordered;   ///< whether it keeps `Contract::Ordered`
  std::span<const Parameter> parameters;

  /// nullptr if it can solve the problem, else the reason why not.
  const char* (*supports)(const Problem&);
  /// Bytes of staging ring that a call needs on each PE.
  std::size_t (*scratch_bytes)(const Problem&, const Params&);
  /// What PE `pe` does in one call whose root is PE 0, or that shifts to another PE.
  Traffic (*traffic)(const Problem&, const Params&, int pe);
  /// The body; every PE of the team calls it with the same problem and parameters.
  void (*run)(Execution&, const Params&);
  /// Raised by a change that makes measurements of the algorithm stale.
  std::uint32_t revision = 1;
  /// Whether it folds the PEs' operands from left to right, in whatever brackets: enough for an
  /// operation that is associative and not commutative. `keeps_ordered` implies it. Where that
  /// holds for some numbers of PEs only, `supports` refuses the others.
  bool keeps_order = false;
  /// For the cost model, where PEs wait for PEs that wait, as in a tree: on how many a chunk stands
  /// still on its way, at most. nullptr: one, or what the words of `traffic` tell, as around a
  /// ring.
  int (*hops)(const Problem&, const Params&) = nullptr;
};

/// The built-in algorithms of a collective, simplest first.
TUTTI_API std::span<const Algorithm* const> algorithms(Collective collective);

/// The initial value of every parameter.
TUTTI_API Params initial_params(const Algorithm& algorithm);

/// "one_shot:chunk_bytes=65536,lag=1,..." with all parameters.
TUTTI_API std::string describe(const Algorithm& algorithm, const Params& params);

}  // namespace tutti
