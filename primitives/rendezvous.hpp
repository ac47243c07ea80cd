// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "primitives/block.hpp"
#include "primitives/control.hpp"

namespace tutti::detail {

class TeamState;

/// What a PE shows to some members of a team, outside of its lanes.
struct Post {
  alignas(kLine) std::uint64_t tag;    ///< its owner writes: which post this is; never 0 again
  alignas(kLine) std::uint64_t taken;  ///< its readers add 1 each time that one has read a post
  alignas(kLine) std::array<std::byte, kAgreementBytes> payload;
};

/// How some members of a team meet while the others know nothing of it, several such groups at the
/// same time. A post is overwritten only when everybody that it was for has taken it; `owed` counts
/// them, so `taken` never has to be reset.
class Rendezvous {
 public:
  void attach(TeamState& team) noexcept { team_ = &team; }

  /// An allgather of at most `kAgreementBytes` among `places` (of the team, mine among them), who
  /// all call it with the same `tag`. Two posts in a row of one PE have different tags. `what` says
  /// for what, to people.
  void gather(const std::vector<int>& places, std::uint64_t tag, const std::string& what,
              const void* mine, std::size_t bytes, void* all);

 private:
  void post(const std::vector<int>& places, std::uint64_t tag, const void* mine, std::size_t bytes);

  TeamState* team_ = nullptr;
  std::uint64_t owed_ = 0;  ///< `taken` when everybody has read all my posts so far
};

}  // namespace tutti::detail
