// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collectives/tuner/catalog.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {

/// The schema that this library reads and writes.
inline constexpr std::uint64_t kTuningSchema = 1;

/// The keys of a tuning file, in the order in which they are written.
inline constexpr std::array<std::string_view, 3> kFileKeys = {"tutti_tuning", "machine", "rules"};
inline constexpr std::array<std::string_view, 11> kMachineKeys = {
    "cpu",   "cores", "l2_kib",  "l3_kib", "instruction_sets", "copy_gbps", "line_ns",
    "tutti", "mpi",   "binding", "date"};
inline constexpr std::array<std::string_view, 12> kRuleKeys = {
    "collective", "pes",      "nodes",   "bytes",     "dtype",  "op",
    "memory",     "contract", "line_ns", "algorithm", "params", "evidence"};
inline constexpr std::array<std::string_view, 6> kEvidenceKeys = {
    "median_us", "ci95_us", "rounds", "vs_builtin", "runner_up", "runner_up_ratio"};

/// What is read from a file at all.
inline constexpr std::size_t kMostFileBytes = std::size_t{4} << 20;
inline constexpr std::uint64_t kMostPes = 65536;
inline constexpr std::uint64_t kMostLineNs = 100'000;

/// As the public function of this name, with the algorithms that rules may name.
Tuning parse_tuning(std::string_view text, std::string_view origin_name, const Catalog& catalog);

}  // namespace tutti::detail
