// SPDX-License-Identifier: Apache-2.0
#include "tutti/transfer.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "primitives/accumulate.hpp"
#include "primitives/copy.hpp"
#include "primitives/fault.hpp"
#include "primitives/team_state.hpp"
#include "primitives/tensor_checks.hpp"
#include "primitives/tensor_runs.hpp"
#include "primitives/transfer_order.hpp"

namespace tutti::detail {
namespace {

// Measured, see docs/performance.md: lines that their owner has read cost much to take back, and a
// store past the caches does without; small pieces are better left where the reader finds them.
// What a get fetches is wanted here, as long as it fits.
constexpr std::size_t kStreamPut = 16 << 10;
constexpr std::size_t kStreamGet = 4 << 20;

void copy_out(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  copy(to, from, bytes, bytes >= kStreamPut ? Store::Stream : Store::Cached);
}
void copy_in(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  copy(to, from, bytes, bytes >= kStreamGet ? Store::Stream : Store::Cached);
}

RunCursor cursor_of(const Region& region) {
  return {region.tensor->shape, region.offsets, region.valid};
}

/// A source or sink, ready to be walked through.
template <class Side>
RunCursor cursor_of(const Side& side) {
  return side.region ? cursor_of(*side.region) : RunCursor(side.elements);
}
template <class Side>
decltype(Side::data) base_of(const Side& side) {
  return side.region ? side.region->tensor->local : side.data;
}

bool disjoint(const std::byte* a, std::size_t a_bytes, const std::byte* b, std::size_t b_bytes) {
  return std::less_equal<>()(a + a_bytes, b) || std::less_equal<>()(b + b_bytes, a);
}

/// Whether two sub-blocks of one tensor have an element in common.
bool meet(const Region& a, const Region& b) {
  for (std::size_t d = 0; d < a.valid.dims(); ++d) {
    if (a.offsets[d] + a.valid[d] <= b.offsets[d] || b.offsets[d] + b.valid[d] <= a.offsets[d]) {
      return false;
    }
  }
  return true;
}

/// Whether `side`, of elements of `bytes`, overlaps the region of the instance at `instance`.
template <class Side>
bool overlap(const Side& side, std::size_t bytes, const Region& region, const std::byte* instance) {
  if (side.elements == 0 || instance == nullptr) return false;
  if (side.region) return base_of(side) == instance && meet(*side.region, region);
  const std::size_t element_bytes = region.tensor->element_bytes;
  const std::size_t side_bytes = side.elements * bytes;
  if (region.contiguous) [[likely]] {
    return !disjoint(side.data, side_bytes, instance + region.start * element_bytes,
                     region.elements * element_bytes);
  }
  if (disjoint(side.data, side_bytes, instance, region.tensor->elements * element_bytes)) {
    return false;
  }
  bool found = false;
  for_each_piece(cursor_of(region), RunCursor(region.elements),
                 [&](std::size_t at, std::size_t, std::size_t n) {
                   found = found || !disjoint(side.data, side_bytes, instance + at * element_bytes,
                                              n * element_bytes);
                 });
  return found;
}

/// Everything that can be wrong with a transfer, before any data move. `bytes`: of an element of
/// `side`.
template <class Side>
void check(const char* what, const Side& side, std::size_t bytes, const Region& region, int pe) {
  TeamState& team = *region.tensor->team;
  team.check_usable();
  check_pe(team, what, pe);
  if (side.elements != region.elements) [[unlikely]] {
    refuse(team, what,
           fmt::format("{} elements here, but the view of PE {} has {}: {}", side.elements, pe,
                       region.elements, text_of(region.valid)));
  }
  if (side.region && side.region->tensor->team != region.tensor->team) [[unlikely]] {
    refuse(team, what, "the two views are of tensors of different teams");
  }
  if (overlap(side, bytes, region, region.tensor->block->direct(pe))) [[unlikely]] {
    refuse(team, what,
           fmt::format("what is here overlaps offsets {}, extents {} of PE {}'s instance",
                       text_of(region.offsets), text_of(region.valid), pe));
  }
}

void move_in(const Source& from, const Region& to, int pe) {
  const TensorState& tensor = *to.tensor;
  const std::size_t bytes = tensor.element_bytes;
  const std::byte* source = base_of(from);
  if (std::byte* target = tensor.block->direct(pe)) [[likely]] {
    if (from.region == nullptr && to.contiguous) [[likely]] {
      copy_out(target + to.start * bytes, source, to.elements * bytes);
      return;
    }
    for_each_piece(cursor_of(from), cursor_of(to),
                   [&](std::size_t a, std::size_t b, std::size_t n) {
                     copy_out(target + b * bytes, source + a * bytes, n * bytes);
                   });
    return;
  }
  Transport& transport = *tensor.team->world().transport();
  for_each_piece(cursor_of(from), cursor_of(to), [&](std::size_t a, std::size_t b, std::size_t n) {
    transport.put(tensor.block->remote(pe, b * bytes), source + a * bytes, n * bytes);
  });
}

void add_in(const Source& from, const Region& to, const Addition& types, int pe) {
  const TensorState& tensor = *to.tensor;
  const std::size_t from_bytes = size_of(types.from);
  const std::size_t to_bytes = size_of(types.to);
  const std::byte* source = base_of(from);
  std::byte* target = tensor.block->direct(pe);
  for_each_piece(cursor_of(from), cursor_of(to), [&](std::size_t a, std::size_t b, std::size_t n) {
    if (target != nullptr) [[likely]] {
      accumulate_elements(target + b * to_bytes, types.to, source + a * from_bytes, types.from, n);
    } else {
      tensor.team->world().transport()->accumulate(tensor.block->remote(pe, b * to_bytes), types.to,
                                                   source + a * from_bytes, types.from, n);
    }
  });
}

/// Where the answers to a get arrive.
struct Landing {
  std::vector<std::byte> data;
  std::vector<std::uint64_t> done;  ///< one for each piece; 1 = arrived
};

std::unique_ptr<Landing> fetch(const Region& from, int pe) {
  const TensorState& tensor = *from.tensor;
  TeamState& team = *tensor.team;
  const std::size_t bytes = tensor.element_bytes;
  std::vector<std::array<std::size_t, 3>> pieces;
  for_each_piece(cursor_of(from), RunCursor(from.elements),
                 [&](std::size_t a, std::size_t b, std::size_t n) {
                   pieces.push_back({a, b, n});
                 });
  auto landing = std::make_unique<Landing>();
  landing->data.resize(from.elements * bytes);
  landing->done.resize(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto [a, b, n] = pieces[i];
    team.world().transport()->get(tensor.block->remote(pe, a * bytes),
                                  landing->data.data() + b * bytes, n * bytes, &landing->done[i]);
  }
  for (std::uint64_t& done : landing->done) await_answer(team, "get", pe, landing, done);
  return landing;
}

struct Raise {
  std::uint64_t value;
  WordUpdate update;
  std::span<const Token> after;
};

/// Puts, then raises the word at `word_offset` of `words`. Where both are reached by load and store
/// nothing stands between the two: data and word may share a line, which a reader that polls would
/// take away in between.
Token move_and_raise(const Source& from, const Region& to, int pe, const Block& words,
                     std::size_t word_offset, const Raise& raise) {
  TeamState& team = *to.tensor->team;
  order(team, raise.after, team.member(pe), Kind::Put);
  std::byte* target = to.tensor->block->direct(pe);
  std::byte* word = words.direct(pe);
  if (target != nullptr && from.region == nullptr && to.contiguous) [[likely]] {
    const std::size_t bytes = to.tensor->element_bytes;
    copy_out(target + to.start * bytes, from.data, to.elements * bytes);
    delay_here("put_signal.put");
    raise_direct(team, word + word_offset, pe, raise.value, raise.update);
    return {};
  }
  if (target == nullptr && from.region == nullptr && to.contiguous) {
    const std::size_t bytes = to.tensor->element_bytes;
    team.world().transport()->put_word(to.tensor->block->remote(pe, to.start * bytes), from.data,
                                       to.elements * bytes, words.remote(pe, word_offset),
                                       raise.value,
                                       raise.update == WordUpdate::Set ? WordOp::Set : WordOp::Add);
    return Token(team.member(pe));
  }
  move_in(from, to, pe);  // several pieces: the word is ordered behind all of them, and more
  delay_here("put_signal.put");
  raise_word(team, words, word_offset, pe, raise.value, raise.update);
  return receipt(team, *to.tensor->block, pe);
}

}  // namespace

Token put(const Source& from, const Region& to, int pe, std::span<const Token> after) {
  check_put("put", from, to, pe);
  TeamState& team = *to.tensor->team;
  order(team, after, team.member(pe), Kind::Put);
  move_in(from, to, pe);
  return receipt(team, *to.tensor->block, pe);
}

Token put_add(const Source& from, const Region& to, const Addition& types, int pe,
              std::span<const Token> after) {
  check("put", from, size_of(types.from), to, pe);
  TeamState& team = *to.tensor->team;
  order(team, after, team.member(pe), Kind::Put);
  add_in(from, to, types, pe);
  return receipt(team, *to.tensor->block, pe);
}

Token put_signal(const Source& from, const Region& to, const WordAt& word, int pe,
                 std::uint64_t value, WordUpdate update, std::span<const Token> after) {
  check_put("put_signal", from, to, pe);
  TeamState& team = *to.tensor->team;
  if (word.words->team != to.tensor->team) [[unlikely]] {
    refuse(
        team, "put_signal",
        fmt::format("the word is of team {}; allowed is the tensor's", word.words->team->name()));
  }
  return move_and_raise(from, to, pe, *word.words->block, word.index * kLine,
                        {value, update, after});
}

void check_put(const char* what, const Source& from, const Region& to, int pe) {
  check(what, from, to.tensor->element_bytes, to, pe);
}

Token put_signal_tile(const Source& from, const Region& to, int pe, std::size_t word_offset,
                      std::uint64_t value, WordUpdate update, std::span<const Token> after) {
  check_put("put_signal", from, to, pe);
  return move_and_raise(from, to, pe, *to.tensor->block, word_offset, {value, update, after});
}

Token get(const Region& from, int pe, const Sink& to, std::span<const Token> after) {
  const TensorState& tensor = *from.tensor;
  check("get", to, tensor.element_bytes, from, pe);
  TeamState& team = *tensor.team;
  order(team, after, team.member(pe), Kind::Put);
  const std::size_t bytes = tensor.element_bytes;
  const std::byte* source = tensor.block->direct(pe);
  if (source != nullptr && from.contiguous && to.region == nullptr) [[likely]] {
    copy_in(to.data, source + from.start * bytes, from.elements * bytes);
    return {};
  }
  std::unique_ptr<Landing> landing;
  if (source == nullptr) landing = fetch(from, pe);
  for_each_piece(landing ? RunCursor(from.elements) : cursor_of(from), cursor_of(to),
                 [&](std::size_t a, std::size_t b, std::size_t n) {
                   copy_in(base_of(to) + b * bytes,
                           (landing ? landing->data.data() : source) + a * bytes, n * bytes);
                 });
  return {};
}

void clear(const Region& region) {
  const TensorState& tensor = *region.tensor;
  for_each_piece(cursor_of(region), RunCursor(region.elements),
                 [&](std::size_t a, std::size_t, std::size_t n) {
                   std::memset(tensor.local + a * tensor.element_bytes, 0,
                               n * tensor.element_bytes);
                 });
}

}  // namespace tutti::detail
