// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "collectives/tuner/catalog.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// The schema that this library reads and writes.
inline constexpr std::uint64_t kTuningSchema = 1;

/// The keys of a tuning file, in the order in which they are written.
inline constexpr std::array<std::string_view, 5> kFileKeys = {"tutti_tuning", "machine", "sweep",
                                                              "rules", "points"};
inline constexpr std::array<std::string_view, 13> kMachineKeys = {
    "cpu",       "cores",   "l2_kib", "l3_kib", "instruction_sets", "copy_gbps", "cross_gbps",
    "fold_gbps", "line_ns", "tutti",  "mpi",    "binding",          "date"};
inline constexpr std::array<std::string_view, 12> kRuleKeys = {
    "collective", "pes",      "nodes",   "bytes",     "dtype",  "op",
    "memory",     "contract", "line_ns", "algorithm", "params", "evidence"};
inline constexpr std::array<std::string_view, 7> kEvidenceKeys = {
    "bytes", "median_us", "ci95_us", "rounds", "vs_builtin", "runner_up", "runner_up_ratio"};
inline constexpr std::array<std::string_view, 5> kSweepKeys = {"budget_s", "used_s", "complete",
                                                               "cycles", "algorithms"};
inline constexpr std::array<std::string_view, 14> kPointKeys = {
    "collective", "pes",    "bytes",   "dtype",    "op",      "memory", "contract",
    "line_ns",    "rounds", "dropped", "bound_us", "builtin", "mpi_us", "candidates"};
inline constexpr std::array<std::string_view, 6> kCandidateKeys = {
    "choice", "status", "reason", "regret", "vs_builtin", "times_us"};

/// What is read from a file at all.
inline constexpr std::size_t kMostFileBytes = std::size_t{32} << 20;
inline constexpr std::uint64_t kMostPes = 65536;
inline constexpr std::uint64_t kMostLineNs = 100'000;

class JsonObject;

/// What stands in a file beside the rules. Refusals as in `parse_tuning`.
SweepFacts read_sweep(const JsonObject& object, const Catalog& catalog);
MeasuredPoint read_point(const JsonObject& object, const Catalog& catalog);
/// {"budget_s": ...}, on one line.
std::string sweep_text(const SweepFacts& sweep);
std::string point_text(const MeasuredPoint& point);

/// As the public function of this name, with the algorithms that rules may name.
Tuning parse_tuning(std::string_view text, std::string_view origin_name, const Catalog& catalog);

}  // namespace tutti::detail
