// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "primitives/heap.hpp"
#include "primitives/transport.hpp"

namespace tutti::detail {

class World;

/// The most that one PE says in one gather of an agreement.
inline constexpr std::size_t kAgreementBytes = 512;

/// How the members of a block (or team) agree while they make it: an allgather among `who.size()`
/// or more participants, and where in it each member stands.
struct Agreement {
  std::function<void(const void* mine, std::size_t bytes, void* all)> gather;
  int participants = 0;
  std::vector<int> who;
};

/// One symmetric allocation: an instance on every member, zeroed before anyone returns.
///
/// Where a member cannot be reached, `readable` leads to a local mirror of its instance, which it
/// fills through its transport (`push`). A block without mirrors is only written remotely.
/// Destroying a block is local: it tells every member's heap that this member has let go.
class Block {
 public:
  enum class Mirrors : std::uint8_t { No, Yes };
  struct Layout {
    std::size_t bytes = 0;  ///< of an instance
    Mirrors mirrors = Mirrors::No;
    std::size_t alignment = kLine;  ///< of instances; a power of two, kLine to Heap::kAlign
  };

  /// Collective. Throws `Error` (OutOfMemory), the same on all participants; the team stays usable.
  /// `members` are world numbers; `me` is this PE's place among them.
  static std::shared_ptr<Block> create(const std::shared_ptr<World>& world,
                                       const std::vector<int>& members, int me,
                                       const Layout& layout, const Agreement& agreement,
                                       const char* purpose);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  BlockId id() const noexcept { return id_; }
  std::size_t bytes() const noexcept { return bytes_; }
  std::byte* local() const noexcept { return direct_[me_]; }
  /// Member `pe`'s instance if it is reached by load and store, else nullptr.
  std::byte* direct(int pe) const noexcept {
    std::byte* at = direct_[static_cast<std::size_t>(pe)];
#ifdef TUTTI_ASSUME_REACHABLE
    if (at == nullptr) __builtin_unreachable();  // a build that shows what the branch costs
#endif
    return at;
  }
  /// Member `pe`'s instance or its mirror.
  std::byte* readable(int pe) const noexcept { return readable_[static_cast<std::size_t>(pe)]; }
  /// Whether every member is reached by load and store.
  bool all_direct() const noexcept { return all_direct_; }

  /// Brings [offset, offset + bytes) of my instance into the mirror at `pe`, if it has one.
  void push(int pe, std::size_t offset, std::size_t bytes) const;
  /// The same for a word; ordered after everything pushed before.
  void push_word(int pe, std::size_t offset, std::uint64_t value) const;
  /// Where [offset...] of member `pe`'s instance is, for the transport.
  RemoteAddress remote(int pe, std::size_t offset) const noexcept;

 private:
  Block() = default;
  RemoteAddress mirror_at(int pe, std::size_t offset) const noexcept;

  std::shared_ptr<World> world_;
  std::vector<int> members_;
  std::size_t me_ = 0;
  BlockId id_ = 0;
  std::size_t bytes_ = 0;
  std::size_t lead_ = 0;  ///< from the header to the instance
  bool all_direct_ = true;
  bool mirrors_ = false;
  std::vector<std::byte*> direct_;
  std::vector<std::byte*> readable_;
};

}  // namespace tutti::detail
