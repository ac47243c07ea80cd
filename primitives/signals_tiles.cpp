// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "primitives/fault.hpp"
#include "primitives/signals_look.hpp"
#include "primitives/team_state.hpp"
#include "primitives/tensor_checks.hpp"
#include "primitives/tensor_runs.hpp"
#include "primitives/transfer_order.hpp"
#include "tutti/tile_signals.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t kSlabBytes = 256 << 10;

/// The common case: a view of the whole of a tensor that is one tile.
bool is_one_tile(const Region& region) {
  const TensorState& tensor = *region.tensor;
  return tensor.tiles == 1 && region.elements == tensor.elements;
}

/// That of a tensor whose tile has one word, whoever raises it.
bool is_one_word(const Region& region) {
  return region.tensor->signals == TileSignals::One && is_one_tile(region);
}

/// The words of the tiles that a view covers, in one source's part of an instance.
class TileWords {
 public:
  /// `source`: whose words, or -1 for the one word that a tile has.
  TileWords(const char* what, const Region& region, int source)
      : tensor_(*region.tensor), cursor_(0) {
    TeamState& team = *tensor_.team;
    team.check_usable();
    const bool per_source = tensor_.signals == TileSignals::PerSource;
    if (tensor_.signals == TileSignals::None || per_source != (source >= 0)) [[unlikely]] {
      refuse(team, what,
             tensor_.signals == TileSignals::None ? "the tensor has no tile signals"
             : per_source ? "the tensor has signals per source: say which source"
                          : "the tensor has one signal a tile, not one per source");
    }
    base_ = tensor_.words_offset +
            (per_source ? tensor_.source_stride * static_cast<std::size_t>(source) : 0);
    if (is_one_tile(region)) [[likely]] {
      cursor_ = RunCursor(std::size_t{1});
    } else {
      walk(team, what, region);
    }
  }

  bool done() const noexcept { return cursor_.run() == 0; }
  /// Bytes from the start of an instance.
  std::size_t offset() const noexcept { return base_ + cursor_.offset() * sizeof(std::uint64_t); }
  void next() noexcept { cursor_.skip(1); }

 private:
  void walk(const TeamState& team, const char* what, const Region& region) {
    Extents first = region.offsets;
    Extents count = region.shape;
    bool aligned = true;
    for (std::size_t d = 0; d < first.dims(); ++d) {
      const std::size_t tile = tensor_.tile[d];
      const std::size_t end = region.offsets[d] + region.shape[d];
      aligned =
          aligned && region.offsets[d] % tile == 0 && (end % tile == 0 || end == tensor_.shape[d]);
      first[d] = region.offsets[d] / tile;
      count[d] = (region.shape[d] + tile - 1) / tile;
    }
    if (!aligned) [[unlikely]] {
      refuse(team, what,
             fmt::format("offsets {}, shape {} are not whole tiles of {}", text_of(region.offsets),
                         text_of(region.shape), text_of(tensor_.tile)));
    }
    cursor_ = RunCursor(tensor_.grid, first, count);
  }

  const TensorState& tensor_;
  RunCursor cursor_;
  std::size_t base_ = 0;
};

/// The source whose words I raise.
int my_source(const TensorState& tensor) {
  return tensor.signals == TileSignals::PerSource ? tensor.team->pe() : -1;
}

/// Goes on to the first word that does not compare true.
bool all_hold(TileWords& words, const TensorState& tensor, Cmp cmp, std::uint64_t value) {
  while (!words.done() && holds(load_word(tensor.local + words.offset()), cmp, value)) words.next();
  return words.done();
}

void check_source(const TensorState& tensor, const char* what, int source) {
  if (source != -1) check_pe(*tensor.team, what, source);
}

}  // namespace

Token signal_tiles(const Region& region, int pe, std::uint64_t value, WordUpdate update,
                   std::span<const Token> after) {
  const TensorState& tensor = *region.tensor;
  TeamState& team = *tensor.team;
  const TileWords words("signal", region, my_source(tensor));
  if (pe != kAllPes) check_pe(team, "signal", pe);
  const int first = pe == kAllPes ? 0 : pe;
  const int last = pe == kAllPes ? team.pes() - 1 : pe;
  order(team, after, pe == kAllPes ? Token::kSeveral : team.member(pe), Kind::Word);
  for (int target = first; target <= last; ++target) {
    for (TileWords each = words; !each.done(); each.next()) {
      // Publishes this tile, and all that this PE put to the target before.
      raise_word(team, *tensor.block, each.offset(), target, value, update);
    }
  }
  if (pe != kAllPes) return receipt(team, *tensor.block, pe);
  return tensor.block->all_direct() ? Token() : Token(Token::kSeveral);
}

namespace {

/// Publishes the tiles of a view, which were just put.
Token raise_tiles(const Region& region, int pe, std::uint64_t value, WordUpdate update) {
  TeamState& team = *region.tensor->team;
  TileWords words("put_signal", region, my_source(*region.tensor));
  for (; !words.done(); words.next()) {
    raise_word(team, *region.tensor->block, words.offset(), pe, value, update);
  }
  return receipt(team, *region.tensor->block, pe);
}

/// Rows of whole tiles that make up a slab of at least `kSlabBytes`.
std::size_t rows_of_slab(const Region& region) {
  const TensorState& tensor = *region.tensor;
  std::size_t row_bytes = tensor.element_bytes;
  for (std::size_t d = 1; d < region.valid.dims(); ++d) row_bytes *= region.valid[d];
  const std::size_t tile_bytes = std::max<std::size_t>(1, row_bytes * tensor.tile[0]);
  return tensor.tile[0] * ((kSlabBytes + tile_bytes - 1) / tile_bytes);
}

/// Rows [row, row + rows) of a view.
Region rows_of(const Region& region, std::size_t row, std::size_t rows) {
  Extents offsets = region.offsets;
  Extents shape = region.shape;
  Extents valid = region.valid;
  offsets[0] += row;
  shape[0] = rows;
  valid[0] = std::min(rows, region.valid[0] > row ? region.valid[0] - row : 0);
  return make_region(*region.tensor, offsets, shape, valid);
}

}  // namespace

Token put_signal_tiles(const Source& from, const Region& to, int pe, std::uint64_t value,
                       WordUpdate update, std::span<const Token> after) {
  if (is_one_word(to)) [[likely]] {
    return put_signal_tile(from, to, pe, to.tensor->words_offset, value, update, after);
  }
  const TileWords checked("put_signal", to, my_source(*to.tensor));
  check_put("put_signal", from, to, pe);
  if (from.region != nullptr || to.tensor->block->direct(pe) == nullptr) {
    put(from, to, pe, after);
    return raise_tiles(to, pe, value, update);
  }
  // Slab by slab along the first dimension, so that the first tiles can be used while the last ones
  // are on their way; large enough that the store fence of each costs little.
  const std::size_t rows = to.shape[0];
  const std::size_t slab = rows_of_slab(to);
  const std::byte* data = from.data;
  Token token;
  for (std::size_t row = 0; row < rows; row += slab) {
    const Region part = rows_of(to, row, std::min(slab, rows - row));
    put({data, part.elements}, part, pe, row == 0 ? after : std::span<const Token>());
    delay_here("put_signal.put");
    token = raise_tiles(part, pe, value, update);
    data += part.elements * to.tensor->element_bytes;
  }
  return token;
}

void wait_tiles(const Region& region, int source, Cmp cmp, std::uint64_t value,
                std::chrono::milliseconds timeout, std::span<const Token> after) {
  const TensorState& tensor = *region.tensor;
  TeamState& team = *tensor.team;
  if (source == kNoSource && is_one_word(region)) [[likely]] {
    team.check_usable();
    order(team, after, Token::kDone, Kind::Word);
    std::byte* word = tensor.local + tensor.words_offset;
    team.world().waiting().until([&] { return holds(load_word(word), cmp, value); },
                                 {&team, "wait_until", -1, -1, timeout});
    delay_here("signal.seen");
    return;
  }
  check_source(tensor, "wait_until", source);
  TileWords words("wait_until", region, source);
  order(team, after, Token::kDone, Kind::Word);
  team.world().waiting().until([&] { return all_hold(words, tensor, cmp, value); },
                               {&team, "wait_until", -1, source, timeout});
  delay_here("signal.seen");
}

bool test_tiles(const Region& region, int source, Cmp cmp, std::uint64_t value) {
  const TensorState& tensor = *region.tensor;
  check_source(tensor, "test", source);
  TileWords words("test", region, source);
  return look(*tensor.team, source, [&] { return all_hold(words, tensor, cmp, value); });
}

}  // namespace tutti::detail
