// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"

namespace tutti::detail {

/// The algorithms that may be named and chosen, by collective, in the order they were added.
/// Refers to the descriptors; does not own them.
class Catalog {
 public:
  Catalog() = default;
  explicit Catalog(std::span<const Algorithm* const> algorithms);

  /// Throws `Error` (InvalidArgument) for a descriptor that is incomplete, has parameters out of
  /// order or has the name of another one.
  void add(const Algorithm& algorithm);

  std::span<const Algorithm* const> of(Collective collective) const noexcept;
  /// nullptr if there is none of this name.
  const Algorithm* find(Collective collective, std::string_view name) const noexcept;
  std::vector<std::string_view> names(Collective collective) const;

 private:
  std::array<std::vector<const Algorithm*>, kCollectives> algorithms_;
};

/// The registries, then `extra`.
Catalog builtin_catalog(std::span<const Algorithm* const> extra = {});

}  // namespace tutti::detail
