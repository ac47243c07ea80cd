// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/tuner/choice.hpp"
#include "collectives/tuner/regimes.hpp"
#include "collectives/tuner/rules.hpp"
#include "tutti/error.hpp"
#include "tutti/execution.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

/// From low to high, inclusive.
struct Span {
  std::uint64_t low = 0;
  std::uint64_t high = std::numeric_limits<std::uint64_t>::max();
};

/// Where a row was measured, and holds. Elsewhere the cost model decides.
enum class Among : std::uint8_t {
  TwoPes,      ///< two PEs, or one
  FewSharing,  ///< up to four PEs that share CPUs: nothing could be calibrated
  Sharing,     ///< any number of them
  All,         ///< two PEs, and any number that share CPUs
};

struct Row {
  Collective collective;
  Among among;
  Span bytes;
  Span line_ns;
  std::optional<Memory> memory;
  const char* choice;  ///< as in `TUTTI_ALGORITHM`
};

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;
constexpr Span kAny = {};

/// The regimes: unknown counts as near, the case of PEs that share a last-level cache.
constexpr Span kNear = {0, kNearBelow - 1};
constexpr Span kApart = {kNearBelow};
constexpr Span kFar = {kFarAbove + 1};
/// Nothing could be calibrated, most often because PEs outnumber the CPUs: each step then costs a
/// change of context, and fewer steps win.
constexpr Span kUnknown = {0, 0};

constexpr Span up_to(std::uint64_t bytes) { return {0, bytes}; }
constexpr Span below(std::uint64_t bytes) { return {0, bytes - 1}; }
constexpr Span from(std::uint64_t bytes) { return {bytes}; }

/// What no cache can hold is written past them.
constexpr const char* kTwoShotPast = "two_shot:store=stream";
constexpr const char* kTwoShotLarge = "two_shot:results=stream";
constexpr const char* kDirectLarge = "direct:results=stream";
constexpr const char* kDirectPast = "direct:store=stream";

using enum Among;
using enum Collective;

/// Sorted by collective and size; the first row that matches and can be followed decides. Where
/// the crossovers lie is measured: see docs/tuning.md.
constexpr std::array kRows = {
    Row{Allreduce, All, up_to(Execution::kLinePayload), kAny, {}, "one_line"},
    // Where buffers can be reached, symmetric or those of threads; elsewhere the rules that follow.
    // Below, staging is faster: it does not use lines that the peer has just read.
    Row{Allreduce, All, from(512 * kKi), kNear, {}, "symmetric_push"},
    Row{Allreduce, TwoPes, from(16 * kMi), kApart, {}, "symmetric_push"},
    // Far apart, lines that the peer has read cost so much to take back that staging past the
    // caches is up to three times faster.
    Row{Allreduce, TwoPes, {kKi, 256 * kKi - 1}, kFar, {}, "one_shot:store=stream"},
    Row{Allreduce, TwoPes, {256 * kKi, 8 * kMi - 1}, kFar, {}, kTwoShotPast},
    Row{Allreduce, TwoPes, from(8 * kMi), kFar, {}, "two_shot:lag=2,store=stream"},
    // Two shots move as many bytes between two PEs as one, and stage half of them out of L2. What
    // no cache can hold is written past them.
    Row{Allreduce, TwoPes, up_to(128 * kKi), kAny, {}, "one_shot"},
    Row{Allreduce, TwoPes, below(8 * kMi), kAny, {}, "two_shot"},
    Row{Allreduce, TwoPes, kAny, kAny, {}, kTwoShotLarge},
    // PEs that share CPUs share their caches too.
    Row{Allreduce, FewSharing, up_to(32 * kKi), kUnknown, {}, "one_shot"},
    Row{Allreduce, Sharing, up_to(16 * kKi), kUnknown, {}, "one_shot"},
    Row{Allreduce, Sharing, below(8 * kMi), kUnknown, {}, "two_shot"},
    Row{Allreduce, Sharing, kAny, kUnknown, {}, kTwoShotLarge},
    Row{Allgather, All, kAny, kAny, {}, "one_line"},
    // Below, staging is faster: it does not use lines that the peer has just read.
    Row{Allgather, TwoPes, from(2 * kKi), kFar, {}, kDirectPast},
    Row{Allgather, All, from(kMi), kNear, {}, "symmetric_push"},
    Row{Allgather, All, from(8 * kMi), kAny, {}, "symmetric_push"},
    Row{Allgather, All, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{Allgather, All, kAny, kAny, {}, "direct"},
    Row{ReduceScatter, All, kAny, kAny, {}, "one_line"},
    // Before symmetric_pull, which takes 2.4 to 3.7 times as long at 1 to 3 MiB.
    Row{ReduceScatter, TwoPes, from(2 * kKi), kFar, {}, kDirectPast},
    Row{ReduceScatter, All, from(512 * kKi), kNear, {}, "symmetric_pull"},
    Row{ReduceScatter, All, from(kMi), kAny, {}, "symmetric_pull"},
    Row{ReduceScatter, All, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{ReduceScatter, All, kAny, kAny, {}, "direct"},
    Row{Broadcast, All, kAny, kAny, {}, "one_line"},
    Row{Broadcast, TwoPes, from(512), kFar, {}, "flat:store=stream"},
    Row{Broadcast, All, kAny, kAny, {}, "flat"},
    Row{Reduce, All, kAny, kAny, {}, "one_line"},
    Row{Reduce, TwoPes, from(512), kFar, {}, kDirectPast},
    Row{Reduce, All, kAny, kAny, {}, "direct"},
    Row{Gather, All, kAny, kAny, {}, "one_line"},
    Row{Gather, TwoPes, from(kKi), kFar, {}, kDirectPast},
    Row{Gather, All, kAny, kAny, {}, "direct"},
    Row{Scatter, All, kAny, kAny, {}, "one_line"},
    Row{Scatter, TwoPes, from(kKi), kFar, {}, kDirectPast},
    Row{Scatter, All, kAny, kAny, {}, "direct"},
    Row{Alltoall, All, kAny, kAny, {}, "one_line"},
    Row{Alltoall, TwoPes, from(2 * kKi), kFar, {}, kDirectPast},
    Row{Alltoall, All, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{Alltoall, All, kAny, kAny, {}, "direct"},
    Row{Allgatherv, All, kAny, kAny, {}, "direct"},
    Row{ReduceScatterv, All, kAny, kAny, {}, "direct"},
    Row{Alltoallv, All, kAny, kAny, {}, "direct"},
    Row{Gatherv, All, kAny, kAny, {}, "direct"},
    Row{Scatterv, All, kAny, kAny, {}, "direct"},
    Row{RingShift, All, kAny, kAny, {}, "one_line"},
    Row{RingShift, All, from(8 * kMi), kAny, Memory::Symmetric, "symmetric_push"},
    Row{RingShift, TwoPes, from(kKi), kFar, {}, kDirectPast},
    Row{RingShift, All, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{RingShift, All, kAny, kAny, {}, "direct"},
};

Range to_range(const Span& span) {
  constexpr Span kOpen = {};
  Range range;
  if (span.low != kOpen.low) range.low = span.low;
  if (span.high != kOpen.high) range.high = span.high;
  return range;
}

Rule to_rule(const Row& row, const Span& pes, const Span& line_ns, const std::string& origin,
             const Catalog& catalog) {
  Forced choice = parse_choice(row.collective, row.choice, origin, catalog);
  Rule rule;
  rule.collective = row.collective;
  rule.pes = to_range(pes);
  rule.bytes = to_range(row.bytes);
  rule.line_ns = to_range(line_ns);
  rule.memory = row.memory;
  rule.algorithm = choice.algorithm;
  rule.params = choice.params;
  rule.origin = std::move(choice.origin);
  return rule;
}

void add_rules(const Row& row, const std::string& origin, const Catalog& catalog,
               std::vector<Rule>& rules) {
  constexpr Span kTwoPes = {0, 2};
  constexpr Span kMorePes = {3};
  constexpr Span kFewPes = {0, 4};
  const auto add = [&](const Span& pes, const Span& line_ns) {
    rules.push_back(to_rule(row, pes, line_ns, origin, catalog));
  };
  switch (row.among) {
    case TwoPes:
      return add(kTwoPes, row.line_ns);
    case FewSharing:
      return add(kFewPes, kUnknown);
    case Sharing:
      return add(kAny, kUnknown);
    case All:
      add(kTwoPes, row.line_ns);
      if (row.line_ns.low == 0) add(kMorePes, kUnknown);
  }
}

}  // namespace

std::vector<Rule> builtin_rules(const Catalog& catalog, std::vector<std::string>* unresolved) {
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    try {
      add_rules(kRows[i], fmt::format("built-in rules[{}]", i), catalog, rules);
    } catch (const Error& error) {
      if (unresolved != nullptr) unresolved->emplace_back(error.what());
    }
  }
  return rules;
}

}  // namespace tutti::detail
