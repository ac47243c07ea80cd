// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tutti/error.hpp"
#include "tutti/problem.hpp"

namespace tutti {

struct Traffic;

namespace detail {
class ExecutionState;
}

/// How stores reach memory: through the cache, or past it (non-temporal).
enum class StoreKind : std::uint8_t { Cached, Stream };

/// A range of this call's staging: the same range on every PE. Not initialised by itself: calls of
/// 100 ns have arrays of them.
struct Staged {
  std::uint64_t position;  ///< in the stream of the ring; equal on all PEs
  std::size_t bytes;
};

/// A block of a buffer, in elements.
struct BlockRange {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// One call of a collective, as its algorithm sees it.
///
/// Each PE has, for the length of the call, one published word that counts steps ("everything I
/// staged or put for step s is there"), a second one that counts what it has finished reading, and
/// a ring of staging memory that peers may read. Shared memory is touched only through the
/// functions below, which know PE, range and kind of access.
///
/// Invariants: (1) every PE of the team reserves the same sizes in the same order; (2) a PE
/// publishes at least once a call, and before it waits for anyone; (3) steps only grow; (4) what
/// `read` or `reserve` returned is not touched after the call.
class TUTTI_API Execution {
 public:
  explicit Execution(detail::ExecutionState& state) noexcept : state_(state) {}

  const Problem& problem() const noexcept;
  int pe() const noexcept;
  int pes() const noexcept;
  int root() const noexcept;  ///< -1 where the collective has none
  /// Of a ring shift, 0 <= shift() < pes(): what I send goes so many places up the ring.
  int shift() const noexcept;

  /// My buffers, in place as the collective says. What only the root has is not looked at
  /// elsewhere: `out` of reduce and gather(v), `in` of scatter(v).
  const std::byte* in() const noexcept;
  std::byte* out() const noexcept;

  /// Where collectives with counts have PE `pe`'s block in my buffers, in elements: all blocks of
  /// allgatherv and gatherv lie in `out`, those of reduce_scatterv and scatterv in `in`, those of
  /// alltoallv in both.
  BlockRange in_block(int pe) const noexcept;
  BlockRange out_block(int pe) const noexcept;

  /// Publishes step `step` (>= 1): all my earlier writes to staging and peers' outputs are visible
  /// to whoever awaits it.
  void publish(std::uint64_t step);
  /// Blocks until PE `pe` has published `step`; throws `Error` if that cannot happen any more.
  /// Publishes step 0 first if nothing was published yet: the PE that I wait for may itself be
  /// waiting, in `reserve`, for everyone to have come.
  void await(int pe, std::uint64_t step);
  /// `await` on every PE, my own (already published) one included.
  void await_all(std::uint64_t step);
  /// Says that I shall not read staging of steps up to `step` again.
  void consumed(std::uint64_t step);

  /// Bytes of staging that this call has: at least the algorithm's `scratch_bytes`.
  std::size_t ring_bytes() const noexcept;
  /// The next `bytes` of my staging, contiguous, that step `step` will publish. Blocks until all
  /// PEs have consumed what was there.
  Staged reserve(std::size_t bytes, std::uint64_t step);
  /// Copies `bytes` into my instance of a range at `offset`, for all readers or for one.
  void stage(const Staged& range, std::size_t offset, const std::byte* from, std::size_t bytes,
             StoreKind store = StoreKind::Cached, int reader = kAllReaders);
  /// My instance of [offset, offset + bytes) for writing in place; `written` must follow.
  std::byte* write(const Staged& range, std::size_t offset, std::size_t bytes);
  /// Ends a `write`, before the step is published.
  void written(const Staged& range, std::size_t offset, std::size_t bytes,
               int reader = kAllReaders);
  /// PE `pe`'s instance of [offset, offset + bytes), for reading once its step is awaited.
  const std::byte* read(int pe, const Staged& range, std::size_t offset, std::size_t bytes);
  static constexpr int kAllReaders = -1;
  /// Before the `await` of a range's step: asks for the first lines of PE `pe`'s instance now, so
  /// that they come together with the word instead of after it. Reads nothing, and does nothing for
  /// more than 2 KiB, of which the first lines come while the rest is still written.
  void expect(int pe, const Staged& range, std::size_t offset, std::size_t bytes) noexcept;

  /// Publishes step 1, which must be the call's first, and awaits everyone's: from then on each PE
  /// knows where the others' buffers lie. Threads of one process tell their addresses in the line.
  void open_buffers();
  /// [offset, offset + bytes) of PE `pe`'s input or output, after `open_buffers`: of symmetric
  /// tensors that are reached by load and store, or of private memory in a shared address space.
  /// When it may be touched follows from the steps of the algorithm.
  const std::byte* read_in(int pe, std::size_t offset, std::size_t bytes);
  const std::byte* read_out(int pe, std::size_t offset, std::size_t bytes);
  std::byte* write_out(int pe, std::size_t offset, std::size_t bytes);

  /// Room for one pointer a PE, to gather the arguments of a fold in.
  std::span<const std::byte*> sources() noexcept;
  std::span<std::byte*> targets() noexcept;
  /// outs[*][0, count) = fold of sources[0], sources[1], ... in this order, 16-bit floats in f32.
  void fold(std::span<std::byte* const> outs, std::span<const std::byte* const> sources,
            std::size_t count, StoreKind store = StoreKind::Cached);
  void fold(std::byte* out, std::span<const std::byte* const> sources, std::size_t count,
            StoreKind store = StoreKind::Cached);
  /// Copies `bytes`; nothing happens if the pointers are equal, else the ranges do not overlap.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes,
            StoreKind store = StoreKind::Cached);

  /// The payload that travels in the line of the first published word: at most 56 bytes.
  static constexpr std::size_t kLinePayload = 56;
  /// `publish(1)` with `bytes` of payload in the same line.
  void publish_line(const std::byte* payload, std::size_t bytes);
  /// Awaits PE `pe`'s `publish_line` and returns the payload in its line, of which the caller reads
  /// `bytes`. Publishes first, as `await`.
  const std::byte* await_line(int pe, std::size_t bytes);

  /// Ends the call with an error on every PE of the team, which is unusable from then on.
  [[noreturn]] void fail(ErrorCode code, const std::string& text);

  /// What this PE did in this call so far.
  const Traffic& traffic() const noexcept;

 private:
  detail::ExecutionState& state_;
};

}  // namespace tutti
