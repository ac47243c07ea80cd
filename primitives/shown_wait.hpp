// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "primitives/control.hpp"
#include "primitives/wait.hpp"

namespace tutti::detail {

class World;

/// A wait that takes long, shown in its PE's control block to its peers and to whoever looks at the
/// job from outside; and the search for a cycle of such waits, which nothing will ever end.
class ShownWait {
 public:
  using Clock = std::chrono::steady_clock;

  ShownWait(World& world, const WaitSite& site, Clock::time_point start)
      : world_(world), site_(site), start_(start) {}
  ~ShownWait();
  ShownWait(const ShownWait&) = delete;
  ShownWait& operator=(const ShownWait&) = delete;

  /// The wait has looked in vain and goes on. Throws `Error` (Mismatch) if it can never end because
  /// PEs wait for each other in calls on different teams.
  void look_again();

 private:
  /// A PE of the cycle, as it was when it was looked at.
  struct Step {
    int pe;
    std::uint64_t version;
    std::uint64_t looks;
  };

  void show();
  std::optional<std::vector<Step>> cycle() const;
  std::string text_of(const std::vector<Step>& cycle) const;

  World& world_;
  const WaitSite& site_;
  const Clock::time_point start_;
  bool shown_ = false;
  bool reported_ = false;
  std::vector<Step> suspects_;
};

}  // namespace tutti::detail
