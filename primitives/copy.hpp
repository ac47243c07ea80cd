// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tutti::detail {

/// How stores reach memory: through the cache, or past it (non-temporal).
enum class Store : unsigned char { Cached, Stream };

/// Copies `bytes`; the ranges may not overlap, any alignment. `Stream` ends with a store fence, so
/// a release that follows publishes the copy in both cases.
void copy(void* to, const void* from, std::size_t bytes, Store store = Store::Cached) noexcept;

}  // namespace tutti::detail
