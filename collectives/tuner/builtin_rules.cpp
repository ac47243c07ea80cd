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

struct Row {
  Collective collective;
  Span pes;
  Span bytes;
  Span line_ns;
  std::optional<Memory> memory;
  const char* choice;  ///< as in `TUTTI_ALGORITHM`
};

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;
constexpr Span kAny = {};
constexpr Span kTwoPes = {0, 2};
constexpr Span kFewPes = {0, 4};

/// The regimes: unknown counts as near, the case of PEs that share a last-level cache.
constexpr Span kNear = {0, 79};
constexpr Span kApart = {80};
constexpr Span kFar = {150};
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

/// Sorted by collective and size; the first row that matches and can be followed decides. Where
/// the crossovers lie is measured: see docs/tuning.md.
constexpr std::array kRows = {
    Row{Collective::Allreduce, kAny, up_to(Execution::kLinePayload), kAny, {}, "one_line"},
    // Where buffers can be reached, symmetric or those of threads; elsewhere the rules that follow.
    // Below, staging is faster: it does not use lines that the peer has just read.
    Row{Collective::Allreduce, kAny, from(512 * kKi), kNear, {}, "symmetric_push"},
    Row{Collective::Allreduce, kAny, from(16 * kMi), kApart, {}, "symmetric_push"},
    // Far apart, lines that the peer has read cost so much to take back that staging past the
    // caches is up to three times faster.
    Row{Collective::Allreduce, kTwoPes, {kKi, 256 * kKi - 1}, kFar, {}, "one_shot:store=stream"},
    Row{Collective::Allreduce, kTwoPes, {256 * kKi, 8 * kMi - 1}, kFar, {}, kTwoShotPast},
    Row{Collective::Allreduce, kTwoPes, from(8 * kMi), kFar, {}, "two_shot:lag=2,store=stream"},
    // Two shots move as many bytes between two PEs as one, and stage half of them out of L2. What
    // no cache can hold is written past them.
    Row{Collective::Allreduce, kTwoPes, up_to(128 * kKi), kAny, {}, "one_shot"},
    Row{Collective::Allreduce, kTwoPes, below(8 * kMi), kAny, {}, "two_shot"},
    Row{Collective::Allreduce, kTwoPes, kAny, kAny, {}, kTwoShotLarge},
    // PEs that share CPUs share their caches too.
    Row{Collective::Allreduce, kFewPes, up_to(32 * kKi), kUnknown, {}, "one_shot"},
    Row{Collective::Allreduce, kAny, up_to(16 * kKi), kUnknown, {}, "one_shot"},
    Row{Collective::Allreduce, kAny, below(8 * kMi), kUnknown, {}, "two_shot"},
    Row{Collective::Allreduce, kAny, kAny, kUnknown, {}, kTwoShotLarge},
    // Not measured: where the cost model has both cost about the same in every regime.
    Row{Collective::Allreduce, {0, 3}, up_to(512), kAny, {}, "one_shot"},
    Row{Collective::Allreduce, {0, 4}, up_to(272), kAny, {}, "one_shot"},
    Row{Collective::Allreduce, {0, 5}, up_to(240), kAny, {}, "one_shot"},
    Row{Collective::Allreduce, {0, 8}, up_to(208), kAny, {}, "one_shot"},
    Row{Collective::Allreduce, {0, 16}, up_to(176), kAny, {}, "one_shot"},
    Row{Collective::Allreduce, kAny, up_to(160), kAny, {}, "one_shot"},
    Row{Collective::Allreduce, kAny, kAny, kAny, {}, "two_shot"},
    Row{Collective::Allgather, kAny, kAny, kAny, {}, "one_line"},
    // Below, staging is faster: it does not use lines that the peer has just read.
    Row{Collective::Allgather, kTwoPes, from(2 * kKi), kFar, {}, "direct:store=stream"},
    Row{Collective::Allgather, kAny, from(kMi), kNear, {}, "symmetric_push"},
    Row{Collective::Allgather, kAny, from(8 * kMi), kAny, {}, "symmetric_push"},
    Row{Collective::Allgather, kAny, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{Collective::Allgather, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::ReduceScatter, kAny, kAny, kAny, {}, "one_line"},
    Row{Collective::ReduceScatter, kAny, from(512 * kKi), kNear, {}, "symmetric_pull"},
    Row{Collective::ReduceScatter, kAny, from(kMi), kAny, {}, "symmetric_pull"},
    Row{Collective::ReduceScatter, kTwoPes, from(2 * kKi), kFar, {}, "direct:store=stream"},
    Row{Collective::ReduceScatter, kAny, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{Collective::ReduceScatter, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Broadcast, kAny, kAny, kAny, {}, "one_line"},
    Row{Collective::Broadcast, kTwoPes, from(512), kFar, {}, "flat:store=stream"},
    Row{Collective::Broadcast, kAny, kAny, kAny, {}, "flat"},
    Row{Collective::Reduce, kAny, kAny, kAny, {}, "one_line"},
    Row{Collective::Reduce, kTwoPes, from(512), kFar, {}, "direct:store=stream"},
    Row{Collective::Reduce, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Gather, kAny, kAny, kAny, {}, "one_line"},
    Row{Collective::Gather, kTwoPes, from(kKi), kFar, {}, "direct:store=stream"},
    Row{Collective::Gather, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Scatter, kAny, kAny, kAny, {}, "one_line"},
    Row{Collective::Scatter, kTwoPes, from(kKi), kFar, {}, "direct:store=stream"},
    Row{Collective::Scatter, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Alltoall, kAny, kAny, kAny, {}, "one_line"},
    Row{Collective::Alltoall, kTwoPes, from(2 * kKi), kFar, {}, "direct:store=stream"},
    Row{Collective::Alltoall, kAny, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{Collective::Alltoall, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Allgatherv, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::ReduceScatterv, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Alltoallv, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Gatherv, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::Scatterv, kAny, kAny, kAny, {}, "direct"},
    Row{Collective::RingShift, kAny, kAny, kAny, {}, "one_line"},
    Row{Collective::RingShift, kAny, from(8 * kMi), kAny, Memory::Symmetric, "symmetric_push"},
    Row{Collective::RingShift, kTwoPes, from(kKi), kFar, {}, "direct:store=stream"},
    Row{Collective::RingShift, kAny, from(8 * kMi), kNear, {}, kDirectLarge},
    Row{Collective::RingShift, kAny, kAny, kAny, {}, "direct"},
};

Range to_range(const Span& span) {
  constexpr Span kOpen = {};
  Range range;
  if (span.low != kOpen.low) range.low = span.low;
  if (span.high != kOpen.high) range.high = span.high;
  return range;
}

Rule to_rule(const Row& row, const std::string& origin, const Catalog& catalog) {
  Forced choice = parse_choice(row.collective, row.choice, origin, catalog);
  Rule rule;
  rule.collective = row.collective;
  rule.pes = to_range(row.pes);
  rule.bytes = to_range(row.bytes);
  rule.line_ns = to_range(row.line_ns);
  rule.memory = row.memory;
  rule.algorithm = choice.algorithm;
  rule.params = choice.params;
  rule.origin = std::move(choice.origin);
  return rule;
}

}  // namespace

std::vector<Rule> builtin_rules(const Catalog& catalog, std::vector<std::string>* unresolved) {
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    try {
      rules.push_back(to_rule(kRows[i], fmt::format("built-in rules[{}]", i), catalog));
    } catch (const Error& error) {
      if (unresolved != nullptr) unresolved->emplace_back(error.what());
    }
  }
  return rules;
}

}  // namespace tutti::detail
