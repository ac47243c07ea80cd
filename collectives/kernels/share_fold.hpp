// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "collectives/kernels/fold.hpp"
#include "primitives/worker_pool.hpp"

namespace tutti::detail {

/// `fold(args)` in pieces, shared with the workers: the same bits, since every element is folded
/// alone. Workers fold in the caller's float mode.
void share_fold_with(WorkerPool& pool, FoldFn fold, std::size_t element_bytes,
                     const FoldArgs& args) noexcept;

/// `fold(args)`, by this thread or, where there are workers, with them.
inline void share_fold(WorkerPool* pool, FoldFn fold, std::size_t element_bytes,
                       const FoldArgs& args) noexcept {
  if (pool == nullptr) [[likely]] {
    fold(args);
  } else {
    share_fold_with(*pool, fold, element_bytes, args);
  }
}

}  // namespace tutti::detail
