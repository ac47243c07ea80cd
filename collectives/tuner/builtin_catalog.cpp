// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <span>

#include "collectives/tuner/catalog.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/problem.hpp"

namespace tutti::detail {

Catalog builtin_catalog(std::span<const Algorithm* const> extra) {
  Catalog catalog;
  for (std::size_t i = 0; i < kCollectives; ++i) {
    for (const Algorithm* algorithm : algorithms(static_cast<Collective>(i))) {
      catalog.add(*algorithm);
    }
  }
  for (const Algorithm* algorithm : extra) catalog.add(*algorithm);
  return catalog;
}

}  // namespace tutti::detail
