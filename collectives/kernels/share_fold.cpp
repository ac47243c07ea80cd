// SPDX-License-Identifier: Apache-2.0
#include "collectives/kernels/share_fold.hpp"

#include <array>

namespace tutti::detail {
namespace {

/// Pointers of one fold that is shared; longer ones are rare and done by one thread.
constexpr std::size_t kMostPointers = 128;

/// Elements [begin, begin + count) of a fold.
void fold_piece(FoldFn fold, std::size_t element_bytes, FoldArgs args, std::size_t begin,
                std::size_t count) noexcept {
  std::array<void*, kMostPointers> outs;
  std::array<const void*, kMostPointers> sources;
  for (std::size_t k = 0; k < args.n_outs; ++k) {
    outs[k] = static_cast<std::byte*>(args.outs[k]) + begin * element_bytes;
  }
  for (std::size_t k = 0; k < args.n_sources; ++k) {
    sources[k] = static_cast<const std::byte*>(args.sources[k]) + begin * element_bytes;
  }
  args.outs = outs.data();
  args.sources = sources.data();
  args.count = count;
  fold(args);
}

}  // namespace

void share_fold_with(WorkerPool& pool, FoldFn fold, std::size_t element_bytes,
                     const FoldArgs& args) noexcept {
  const std::size_t bytes = args.count * element_bytes;
  const int pieces = pool.pieces(bytes);
  if (pieces == 1 || args.n_outs > kMostPointers || args.n_sources > kMostPointers) {
    return fold(args);
  }
  const PieceBounds bounds(args.outs[0], bytes, element_bytes, pieces);
  const unsigned mode = float_mode();
  pool.share(pieces, [&](int i) noexcept {
    const FloatMode as_caller(mode);
    const std::size_t begin = bounds.at(i) / element_bytes;
    fold_piece(fold, element_bytes, args, begin, bounds.at(i + 1) / element_bytes - begin);
  });
}

}  // namespace tutti::detail
