// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "primitives/team_state.hpp"
#include "tutti/order.hpp"

namespace tutti::detail {

inline bool holds(std::uint64_t word, Cmp cmp, std::uint64_t value) noexcept {
  switch (cmp) {
    case Cmp::Eq:
      return word == value;
    case Cmp::Ne:
      return word != value;
    case Cmp::Gt:
      return word > value;
    case Cmp::Ge:
      return word >= value;
    case Cmp::Lt:
      return word < value;
    case Cmp::Le:
      break;
  }
  return word <= value;
}

/// Sequentially consistent, as the wait engine needs it; sees what the raiser wrote before.
inline std::uint64_t load_word(std::byte* at) noexcept {
  return word_at(at).load(std::memory_order_seq_cst);
}

/// Between two looks at whether peers live, of a program that tests in a loop.
inline constexpr unsigned kTestsBetweenChecks = 1024;

/// One look that does not block. Drives transfers; from time to time asks whether what PE `on` (-1:
/// anyone) should raise can still come.
template <class Ready>
bool look(TeamState& team, int on, Ready&& ready) {
  team.check_usable();
  if (ready()) return true;
  if (Transport* transport = team.world().transport()) {
    transport->progress();
    if (ready()) return true;
  }
  thread_local unsigned tests = 0;
  if (++tests % kTestsBetweenChecks == 0) {
    team.check({&team, "test", -1, on, {}}, {}, true, Predicate(ready));
    return ready();
  }
  return false;
}

}  // namespace tutti::detail
