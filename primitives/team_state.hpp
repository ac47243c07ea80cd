// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "primitives/block.hpp"
#include "primitives/fibers.hpp"
#include "primitives/lane.hpp"
#include "primitives/wait.hpp"
#include "primitives/world.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// What upper rooms hang onto a team (the tuner's rules, cached decisions).
class TeamAttachment {
 public:
  virtual ~TeamAttachment() = default;
};

/// A team on one PE: who is in it, its words, its lanes.
class TeamState : public std::enable_shared_from_this<TeamState> {
 public:
  /// Collective among the participants of `agreement`.
  static std::shared_ptr<TeamState> create(const std::shared_ptr<World>& world,
                                           std::vector<int> members, int me,
                                           const Agreement& agreement, std::string name);

  int pe() const noexcept { return me_; }
  int pes() const noexcept { return static_cast<int>(members_.size()); }
  World& world() const noexcept { return *world_; }
  const std::shared_ptr<World>& shared_world() const noexcept { return world_; }
  /// World numbers of the members.
  const std::vector<int>& members() const noexcept { return members_; }
  int member(int pe) const noexcept { return members_[static_cast<std::size_t>(pe)]; }
  const std::string& name() const noexcept { return name_; }
  /// The lane of the next started operation: all but lane 0 in turn.
  int next_lane() noexcept { return 1 + starts_++ % (kLanes - 1); }
  /// The last operation started on a lane, if it may still be running.
  std::shared_ptr<Task>& last_started(int lane) noexcept {
    return last_started_[static_cast<std::size_t>(lane)];
  }
  Lane& lane(int index) noexcept { return lanes_[static_cast<std::size_t>(index)]; }
  Block& words() const noexcept { return *words_; }
  bool all_direct() const noexcept { return words_->all_direct(); }
  /// See `Team::shared_address_space`.
  bool shared_address_space() const noexcept { return shared_address_space_; }
  /// An agreement among the members, over lane `lane`.
  Agreement agreement(int lane = 0);
  /// Among some members only, named by their places in this team; `name` is part of what they agree
  /// on. Every gather of it blocks until all of them have come to it.
  Agreement agreement_among(std::vector<int> places, const std::string& name);
  std::chrono::milliseconds timeout() const noexcept { return world_->settings().timeout; }

  /// Throws if the team is unusable or this is a forked child; one load each.
  void check_usable() const {
    world_->check_not_forked();
    if (poison_->load(std::memory_order_acquire) != 0) [[unlikely]] {
      throw_poisoned();
    }
  }
  /// Collective: see `Team::measure_line_ns`; the median of five batches of so many rounds.
  double measure_line_ns(std::uint64_t rounds = 100);

  /// Makes the team unusable on every member and remembers why.
  void poison(ErrorCode code, const std::string& text, int origin_pe);

  /// The slow path of a wait asks this. Throws `Error` if what `site` waits for cannot come any
  /// more: the team was poisoned, a PE died, threw, finished or made another call, or the
  /// deadline passed. Looks at the liveness of peers when `thorough`.
  /// A peer that raised the word and then left is no error: `ready` is asked again after that.
  void check(const WaitSite& site, std::chrono::nanoseconds waited, bool thorough, Predicate ready);
  /// "allreduce, call 17 on team world: waiting for PE 1 (last in call 16: barrier)".
  std::string text_of(const WaitSite& site);
  /// Poisons the team and throws.
  [[noreturn]] void give_up(ErrorCode code, const std::string& text, int origin_pe);
  /// One line on stderr: who has been waited for so long.
  void warn(const WaitSite& site, std::chrono::nanoseconds waited);

  std::once_flag attachment_made;
  std::unique_ptr<TeamAttachment> attachment;
  std::atomic<TeamAttachment*> attached{nullptr};  ///< the same, once it is made

 private:
  TeamState() = default;
  [[noreturn]] void throw_poisoned() const;
  std::string describe(const WaitSite& site);
  std::string awaited(const WaitSite& site);
  void check_departed(const WaitSite& site, Predicate ready);

  std::shared_ptr<World> world_;
  std::vector<int> members_;
  int me_ = 0;
  bool shared_address_space_ = false;
  std::string name_;
  std::shared_ptr<Block> words_;
  Word* poison_ = nullptr;  ///< my instance's
  std::array<Lane, kLanes> lanes_;
  Rendezvous rendezvous_;
  std::array<std::shared_ptr<Task>, kLanes> last_started_;
  int starts_ = 0;
  std::uint64_t pings_ = 0;  ///< of all measurements so far; equal on all members
};

}  // namespace tutti::detail
