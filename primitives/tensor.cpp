// SPDX-License-Identifier: Apache-2.0
#include "tutti/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "primitives/team_state.hpp"
#include "primitives/tensor_checks.hpp"
#include "primitives/tensor_runs.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace detail {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 47;  // what a process can address
constexpr std::size_t kBesideWord = 64 - sizeof(std::uint64_t);

/// What each PE asks for.
struct Wish {
  Extents shape;
  Extents tile;
  TileSignals signals = TileSignals::None;
  std::size_t element_bytes = 0;
  std::size_t alignment = 0;

  friend bool operator==(const Wish&, const Wish&) = default;
};

std::string text_of(const Wish& wish) {
  std::string text = fmt::format("shape {} of elements of {} bytes", detail::text_of(wish.shape),
                                 wish.element_bytes);
  if (wish.tile.dims() > 0) text += fmt::format(" in tiles of {}", detail::text_of(wish.tile));
  if (wish.signals == TileSignals::One) text += " with one signal a tile";
  if (wish.signals == TileSignals::PerSource) text += " with signals per source";
  if (wish.alignment != TensorOptions{}.alignment) {
    text += fmt::format(" aligned to {} bytes", wish.alignment);
  }
  return text;
}

[[noreturn]] void refuse_wish(const TeamState& team, int pe, const std::string& text) {
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("make_tensor on team {}: PE {} asks for {}", team.name(), pe, text));
}

/// The same outcome on every PE, since all look at the same wishes.
void check_wishes(const TeamState& team, const std::vector<Wish>& wishes) {
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const Wish& wish = wishes[i];
    const int pe = static_cast<int>(i);
    if (wish != wishes[0]) {
      refuse_wish(team, pe,
                  fmt::format("{}, but PE 0 asks for {}", text_of(wish), text_of(wishes[0])));
    }
    if (wish.shape.dims() == 0) refuse_wish(team, pe, "no dimensions; allowed are 1 to 5");
    if (!product_within(wish.shape, kMostBytes / wish.element_bytes)) {
      refuse_wish(team, pe,
                  fmt::format("{}; a tensor has at most {} bytes", text_of(wish), kMostBytes));
    }
    const bool has_zero = std::ranges::find(wish.tile, std::size_t{0}) != wish.tile.end();
    const bool huge = !product_within(wish.tile, kMostBytes);
    if (!std::has_single_bit(wish.alignment) || wish.alignment < 64 ||
        wish.alignment > Heap::kAlign) {
      refuse_wish(
          team, pe,
          fmt::format("{}; allowed are powers of two from 64 to {}", text_of(wish), Heap::kAlign));
    }
    if (wish.tile.dims() > 0 && (wish.tile.dims() != wish.shape.dims() || has_zero || huge)) {
      refuse_wish(team, pe,
                  fmt::format("{}; a tile has as many dimensions as the tensor, each at least 1",
                              text_of(wish)));
    }
  }
}

std::size_t rounded(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

void lay_out_words(TensorState& tensor) {
  tensor.grid = tensor.shape;
  for (std::size_t d = 0; d < tensor.grid.dims(); ++d) {
    tensor.grid[d] = (tensor.shape[d] + tensor.tile[d] - 1) / tensor.tile[d];
  }
  tensor.tiles = tensor.grid.product();
  const std::size_t bytes = tensor.elements * tensor.element_bytes;
  // One small tile and its signal share a line: both come in one transfer.
  const bool shares_line =
      tensor.signals == TileSignals::One && tensor.tiles == 1 && bytes <= kBesideWord;
  tensor.words_offset = shares_line ? kBesideWord : rounded(bytes);
  if (tensor.signals == TileSignals::PerSource) {
    tensor.source_stride = rounded(tensor.tiles * sizeof(std::uint64_t));
  }
}

std::size_t word_bytes(const TensorState& tensor) {
  switch (tensor.signals) {
    case TileSignals::None:
      break;
    case TileSignals::One:
      return rounded(tensor.words_offset + tensor.tiles * sizeof(std::uint64_t)) -
             tensor.words_offset;
    case TileSignals::PerSource:
      return tensor.source_stride * static_cast<std::size_t>(tensor.team->pes());
  }
  return 0;
}

}  // namespace

std::shared_ptr<const TensorState> make_tensor(const Team& team, const Extents& shape,
                                               const Tile& tile, const TensorOptions& options,
                                               std::size_t element_bytes) {
  auto tensor = std::make_shared<TensorState>();
  tensor->team = team.shared_state();
  const Wish mine{shape, tile.extents, options.signals, element_bytes, options.alignment};
  std::vector<Wish> wishes(static_cast<std::size_t>(team.size()));
  tensor->team->lane(0).exchange(&mine, sizeof mine, wishes.data());
  check_wishes(*tensor->team, wishes);

  tensor->shape = shape;
  tensor->tile = tile.extents;
  if (tile.extents.dims() == 0) {
    tensor->tile = shape;
    for (std::size_t d = 0; d < shape.dims(); ++d) {
      tensor->tile[d] = std::max<std::size_t>(shape[d], 1);
    }
  }
  tensor->elements = shape.product();
  tensor->element_bytes = element_bytes;
  tensor->signals = options.signals;
  lay_out_words(*tensor);
  tensor->block =
      Block::create(tensor->team->shared_world(), tensor->team->members(), tensor->team->pe(),
                    {.bytes = tensor->words_offset + word_bytes(*tensor),
                     .alignment = std::max(options.alignment, kLine)},
                    tensor->team->agreement(), "make_tensor");
  tensor->local = tensor->block->local();
  Extents origin = shape;
  for (std::size_t d = 0; d < origin.dims(); ++d) origin[d] = 0;
  tensor->whole = {tensor.get(), tensor->elements, 0, true, origin, shape, shape};
  return tensor;
}

Team team_of(const TensorState& tensor) { return Team(tensor.team); }

std::byte* unsafe_peer(const TensorState& tensor, int pe) {
  check_pe(*tensor.team, "unsafe_peer", pe);
  return tensor.block->direct(pe);
}

namespace {

/// Whether a sub-block is contiguous: in front of the outermost dimension that is more than one
/// index, anything may be cut.
bool one_run(const Extents& whole, const Extents& extents) {
  std::size_t d = 0;
  while (d < extents.dims() && extents[d] == 1) ++d;
  for (++d; d < extents.dims(); ++d) {
    if (extents[d] != whole[d]) return false;
  }
  return true;
}

}  // namespace

Region make_region(const TensorState& tensor, const Extents& offsets, const Extents& shape,
                   const Extents& valid) {
  const Extents& whole = tensor.shape;
  bool inside = offsets.dims() == whole.dims() && shape.dims() == whole.dims() &&
                valid.dims() == whole.dims();
  for (std::size_t d = 0; inside && d < whole.dims(); ++d) {
    inside = offsets[d] <= whole[d] && shape[d] <= whole[d] - offsets[d] && valid[d] <= shape[d];
  }
  if (!inside) [[unlikely]] {
    refuse(*tensor.team, "view",
           fmt::format("offsets {}, shape {}, valid {} of a tensor of shape {}; offsets + shape "
                       "must lie inside it, and valid inside shape",
                       text_of(offsets), text_of(shape), text_of(valid), text_of(whole)));
  }
  const std::size_t elements = valid.product();
  return {
      &tensor, elements, index_of(whole, offsets), elements == 0 || one_run(whole, valid), offsets,
      shape,   valid};
}

void refuse_span(const Region& region) {
  refuse(*region.tensor->team, "ReadableView::span",
         fmt::format("{} of a tensor of shape {} is not contiguous; use row", text_of(region.valid),
                     text_of(region.tensor->shape)));
}

void refuse_index(const Region& region, std::size_t indices) {
  refuse(*region.tensor->team, "ReadableView::row",
         fmt::format("{} indices; {} dimensions need {}", indices, region.valid.dims(),
                     region.valid.dims() - 1));
}

}  // namespace detail
}  // namespace tutti
