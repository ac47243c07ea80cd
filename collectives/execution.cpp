// SPDX-License-Identifier: Apache-2.0
#include "tutti/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "collectives/execution_state.hpp"
#include "collectives/kernels/share_fold.hpp"
#include "collectives/kernels/user_fold.hpp"
#include "primitives/copy.hpp"

namespace tutti {
namespace {

/// Where a PE's buffers lie: the payload of `open_buffers` among threads.
struct Addresses {
  const std::byte* in;
  std::byte* out;
};

detail::Store store_of(StoreKind kind) {
  return kind == StoreKind::Stream ? detail::Store::Stream : detail::Store::Cached;
}

/// An exception of the program's function ends the call on every PE.
void fold_user(detail::ExecutionState& state, std::span<std::byte* const> outs,
               std::span<const std::byte* const> sources, std::size_t count) {
  const auto give_up = [&](const char* text) {
    detail::TeamState& team = state.team;
    team.poison(
        ErrorCode::PeerFailed,
        fmt::format("{}, call {} on team {}: the reduction of the program failed on PE {}: {}",
                    name_of(state.problem.collective), state.lane.call(), team.name(), team.pe(),
                    text),
        team.member(team.pe()));
  };
  try {
    detail::user_fold(state.buffers.user, state.user_room, outs, sources, count);
  } catch (const std::exception& error) {
    give_up(error.what());
    throw;
  } catch (...) {
    give_up("an exception that is not a std::exception");
    throw;
  }
}

}  // namespace

const Problem& Execution::problem() const noexcept { return state_.problem; }
int Execution::pe() const noexcept { return state_.team.pe(); }
int Execution::pes() const noexcept { return state_.problem.pes; }
int Execution::root() const noexcept { return state_.root; }
int Execution::shift() const noexcept { return state_.root; }
const std::byte* Execution::in() const noexcept { return state_.buffers.in; }
std::byte* Execution::out() const noexcept { return state_.buffers.out; }
const Traffic& Execution::traffic() const noexcept { return state_.traffic; }

BlockRange Execution::in_block(int pe) const noexcept {
  const auto i = static_cast<std::size_t>(pe);
  return {state_.in_begins[i], state_.in_begins[i + 1] - state_.in_begins[i]};
}

BlockRange Execution::out_block(int pe) const noexcept {
  const auto i = static_cast<std::size_t>(pe);
  return {state_.out_begins[i], state_.out_begins[i + 1] - state_.out_begins[i]};
}

void Execution::fail(ErrorCode code, const std::string& text) {
  detail::TeamState& team = state_.team;
  const std::string full =
      fmt::format("{}, call {} on team {}, PE {}: {}", name_of(state_.problem.collective),
                  state_.lane.call(), team.name(), team.pe(), text);
  team.poison(code, full, team.member(team.pe()));
  throw Error(code, full);
}

void Execution::publish(std::uint64_t step) {
  state_.posted = true;
  ++state_.traffic.words;
  state_.lane.publish(step);
}

void Execution::await(int pe, std::uint64_t step) {
  if (!state_.posted) publish(0);
  state_.lane.await(pe, step);
}

void Execution::await_all(std::uint64_t step) {
  if (!state_.posted) publish(0);
  state_.lane.await_all(step);
}

void Execution::consumed(std::uint64_t step) {
  ++state_.traffic.words;
  state_.lane.consumed(step);
}

std::size_t Execution::ring_bytes() const noexcept {
  return state_.ring == nullptr ? 0 : state_.ring->bytes;
}

Staged Execution::reserve(std::size_t bytes, std::uint64_t step) {
  return {state_.lane.reserve(*state_.ring, bytes, step), bytes};
}

void Execution::stage(const Staged& range, std::size_t offset, const std::byte* from,
                      std::size_t bytes, StoreKind store, int reader) {
  detail::copy(state_.workers, write(range, offset, bytes), from, bytes, store_of(store));
  written(range, offset, bytes, reader);
}

std::byte* Execution::write(const Staged& range, std::size_t offset, std::size_t bytes) {
  state_.traffic.bytes_stored += bytes;
  return state_.ring->block->local() + state_.ring->offset(range.position) + offset;
}

void Execution::written(const Staged& range, std::size_t offset, std::size_t bytes, int reader) {
  const detail::Block& block = *state_.ring->block;
  if (block.all_direct()) [[likely]] {
    return;
  }
  const std::size_t at = state_.ring->offset(range.position) + offset;
  if (reader != kAllReaders) return block.push(reader, at, bytes);
  for (int i = 0; i < pes(); ++i) block.push(i, at, bytes);
}

const std::byte* Execution::read(int pe, const Staged& range, std::size_t offset,
                                 std::size_t bytes) {
  if (pe != this->pe()) state_.traffic.bytes_loaded += bytes;
  return state_.ring->block->readable(pe) + state_.ring->offset(range.position) + offset;
}

void Execution::expect(int pe, const Staged& range, std::size_t offset,
                       std::size_t bytes) noexcept {
  constexpr std::size_t kMost = 1024;  // as much as a core fetches at a time
  // Of more than twice that, lines would be asked for while they are still written.
  if (bytes > 2 * kMost) return;
  constexpr std::size_t kCacheLine = 64;
  const std::byte* from =
      state_.ring->block->readable(pe) + state_.ring->offset(range.position) + offset;
  for (std::size_t at = 0; at < std::min(bytes, kMost); at += kCacheLine) {
    __builtin_prefetch(from + at);
  }
}

void Execution::open_buffers() {
  const detail::Buffers& mine = state_.buffers;
  const auto ins = state_.peer_ins;
  const auto outs = state_.peer_outs;
  if (!state_.problem.shared_address_space) {
    publish(1);
    await_all(1);
    for (int pe = 0; pe < pes(); ++pe) {
      const auto i = static_cast<std::size_t>(pe);
      ins[i] = mine.in_block->direct(pe) + (mine.in - mine.in_block->local());
      outs[i] = mine.out_block->direct(pe) + (mine.out - mine.out_block->local());
    }
    return;
  }
  const Addresses addresses{mine.in, mine.out};
  std::array<std::byte, sizeof addresses> payload;
  std::memcpy(payload.data(), &addresses, sizeof addresses);
  state_.posted = true;
  ++state_.traffic.words;
  state_.lane.publish_first_step(payload.data(), payload.size());
  // The line also publishes the input that the addresses lead to.
  for (int pe = 0; pe < pes(); ++pe) {
    Addresses theirs;
    std::memcpy(&theirs, state_.lane.await_line(pe), sizeof theirs);
    ins[static_cast<std::size_t>(pe)] = theirs.in;
    outs[static_cast<std::size_t>(pe)] = theirs.out;
  }
}

const std::byte* Execution::read_in(int pe, std::size_t offset, std::size_t bytes) {
  if (pe != this->pe()) state_.traffic.bytes_loaded += bytes;
  return state_.peer_ins[static_cast<std::size_t>(pe)] + offset;
}

const std::byte* Execution::read_out(int pe, std::size_t offset, std::size_t bytes) {
  if (pe != this->pe()) state_.traffic.bytes_loaded += bytes;
  return state_.peer_outs[static_cast<std::size_t>(pe)] + offset;
}

std::byte* Execution::write_out(int pe, std::size_t offset, std::size_t bytes) {
  if (pe != this->pe()) state_.traffic.bytes_stored += bytes;
  return state_.peer_outs[static_cast<std::size_t>(pe)] + offset;
}

std::span<const std::byte*> Execution::sources() noexcept { return state_.sources; }
std::span<std::byte*> Execution::targets() noexcept { return state_.targets; }

void Execution::fold(std::span<std::byte* const> outs, std::span<const std::byte* const> sources,
                     std::size_t count, StoreKind store) {
  state_.traffic.bytes_folded += sources.size() * count * element_bytes(state_.problem);
  if (state_.fold_fn == nullptr) [[unlikely]] {
    return fold_user(state_, outs, sources, count);
  }
  detail::share_fold(state_.workers, state_.fold_fn, element_bytes(state_.problem),
                     {.outs = reinterpret_cast<void* const*>(outs.data()),
                      .n_outs = outs.size(),
                      .sources = reinterpret_cast<const void* const*>(sources.data()),
                      .n_sources = sources.size(),
                      .count = count,
                      .divisor = static_cast<std::size_t>(state_.problem.pes),
                      .stream = store == StoreKind::Stream});
}

void Execution::fold(std::byte* out, std::span<const std::byte* const> sources, std::size_t count,
                     StoreKind store) {
  fold(std::span(&out, 1), sources, count, store);
}

void Execution::copy(std::byte* to, const std::byte* from, std::size_t bytes, StoreKind store) {
  if (to != from) detail::copy(state_.workers, to, from, bytes, store_of(store));
}

void Execution::publish_line(const std::byte* payload, std::size_t bytes) {
  state_.posted = true;
  ++state_.traffic.words;
  state_.traffic.bytes_stored += bytes;
  state_.lane.publish_line(payload, bytes);
}

const std::byte* Execution::await_line(int pe, std::size_t bytes) {
  if (!state_.posted) publish(0);
  state_.traffic.bytes_loaded += bytes;
  return state_.lane.await_line(pe);
}

}  // namespace tutti
