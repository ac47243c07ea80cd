// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/types.hpp"

namespace tutti::detail {

/// A symmetric allocation; equal on all its members, never used twice in a world.
using BlockId = std::uint64_t;

struct RemoteAddress {
  int world_pe;
  BlockId block;
  std::size_t offset;  ///< bytes from the start of that PE's instance
};

enum class WordOp : std::uint8_t { Set, Add };

/// Read-modify-write of a word; all of them answer with its old value.
enum class AtomicOp : std::uint8_t { Fetch, Add, Swap, CompareExchange };
struct AtomicRequest {
  AtomicOp op = AtomicOp::Fetch;
  std::uint64_t value = 0;
  std::uint64_t expected = 0;  ///< CompareExchange
};
/// Where the answer to a request arrives.
struct Reply {
  std::uint64_t value = 0;
  std::uint64_t done = 0;  ///< 1 = `value` is there
};

/// What happens when a peer is not reached by load and store.
///
/// Order: a word or atomic takes effect after everything that the same PE sent to the same target
/// before it; payloads between two of them (or fences) take effect in any order. A payload with a
/// word of its own takes effect after all earlier words, but may overtake earlier payloads. Every
/// function copies what it is given before it returns. `progress` delivers what has come for this
/// PE; nothing else does.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual void put(RemoteAddress to, const void* from, std::size_t bytes) = 0;
  /// Element-wise addition at the target: `count` elements of `from_type` into `to_type`.
  virtual void accumulate(RemoteAddress to, DType to_type, const void* from, DType from_type,
                          std::size_t count) = 0;
  virtual void word(RemoteAddress to, std::uint64_t value, WordOp op) = 0;
  /// A payload, then a word.
  virtual void put_word(RemoteAddress to, const void* from, std::size_t bytes,
                        RemoteAddress word_at, std::uint64_t value, WordOp op) = 0;
  /// Starts a read-modify-write; the target must progress.
  virtual void atomic(RemoteAddress at, const AtomicRequest& request, Reply* reply) = 0;
  /// Starts a read; `*done` becomes 1 once `to` is filled. The target must progress.
  virtual void get(RemoteAddress from, void* to, std::size_t bytes, std::uint64_t* done) = 0;
  virtual void fence(int world_pe) = 0;
  /// Whether all that this PE sent to `world_pe` has taken effect there.
  virtual bool quiet(int world_pe) = 0;
  /// Delivers; true if more is waiting to be delivered to this PE.
  virtual bool progress() = 0;
};

}  // namespace tutti::detail
