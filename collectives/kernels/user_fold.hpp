// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tutti/collectives.hpp"

namespace tutti::detail {

/// The unit of the room in which a program's own operation folds: aligned for every element.
struct alignas(64) UserLine {
  std::array<std::byte, 64> bytes;
};

/// Lines of room for elements of `element_bytes`: many small ones or one large one.
constexpr std::size_t user_lines(std::size_t element_bytes) noexcept {
  constexpr std::size_t kEnough = 4096;  // stays in the nearest cache with two sources
  const std::size_t bytes = element_bytes > kEnough ? element_bytes : kEnough;
  return (bytes + sizeof(UserLine) - 1) / sizeof(UserLine);
}

/// outs[*][0, count) = sources[0] o sources[1] o ..., from left to right, by the program's function
/// and on this thread alone. An output may be the same pointer as a source, no other overlap.
/// Throws what the function throws; outputs are then partly written.
void user_fold(const UserFold& fold, std::span<std::byte> room, std::span<std::byte* const> outs,
               std::span<const std::byte* const> sources, std::size_t count);

}  // namespace tutti::detail
