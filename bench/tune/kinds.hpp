// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tutti/tuning.hpp"

/// What the rules of files speak about: pure functions.
namespace tutti::bench {

inline constexpr std::uint64_t kSmallestKind = 8;
inline constexpr std::uint64_t kLargestKind = std::uint64_t{1} << 30;

/// One problem of each kind that some rule speaks about; counts are still open. Of ranges of PEs
/// and nodes the ends and some numbers inside; types and operations that are named, the usual one,
/// and one that stands for all that no rule names; each regime, the one that is not known, and one
/// line transfer in each stretch between the ends of the rules' ranges. `threads`: whether PEs of
/// one node are threads of one process.
std::vector<Problem> kinds_of(std::span<const Rule* const> rules, bool threads);

/// Whether the type has the operation: bitwise ones are for integers, and a program's own operation
/// is for elements of its own.
bool has_meaning(const Problem& problem);

/// Sizes at which a choice may begin, in ascending order.
std::vector<std::uint64_t> sizes_of(std::span<const Rule* const> rules);

/// Bytes of one element in each block.
std::size_t grain_of(Problem problem);

/// A problem of this kind, of the smallest count that has so many bytes.
Problem of_size(Problem kind, std::size_t bytes);

/// Whether measurements of `a` are about problems like `b`: all but the size, the regime for the
/// line transfer, and on processes or threads.
bool alike(Problem a, const Problem& b);

/// Whether some point of the file was measured on threads of one process and shows it.
bool measured_on_threads(const Tuning& file);

}  // namespace tutti::bench
