// SPDX-License-Identifier: Apache-2.0
#include "primitives/team_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace tutti::detail {
namespace {

std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * 0x9e3779b97f4a7c15u;
  return bits ^ (bits >> 29);
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Lets messages arrive and, for the program, started operations go on; whether one did.
bool anything_moves(World& world) {
  const bool delivered = world.transport() != nullptr && world.transport()->progress();
  Fibers& fibers = world.fibers();
  return (fibers.any() && !fibers.inside() && fibers.drive()) || delivered;
}

}  // namespace

std::shared_ptr<TeamState> TeamState::create(const std::shared_ptr<World>& world,
                                             std::vector<int> members, int me,
                                             const Agreement& agreement, std::string name) {
  std::shared_ptr<TeamState> team(new TeamState);
  team->world_ = world;
  team->me_ = me;
  team->name_ = std::move(name);
  team->words_ = Block::create(world, members, me,
                               {.bytes = sizeof(TeamWords), .mirrors = Block::Mirrors::Yes},
                               agreement, "words of a team");
  team->poison_ = reinterpret_cast<Word*>(team->words_->local() + offsetof(TeamWords, poison));
  team->members_ = std::move(members);
  team->shared_address_space_ =
      team->all_direct() && std::ranges::all_of(team->members_, [&](int member) {
        return member == world->pe() || world->peer(member).same_process;
      });
  for (int i = 0; i < kLanes; ++i) team->lane(i).attach(*team, i);
  team->rendezvous_.attach(*team);
  return team;
}

Agreement TeamState::agreement(int lane_index) {
  Agreement agreement;
  agreement.gather = [this, lane_index](const void* mine, std::size_t bytes, void* all) {
    lane(lane_index).exchange(mine, bytes, all);
  };
  agreement.participants = pes();
  for (int i = 0; i < pes(); ++i) agreement.who.push_back(i);
  return agreement;
}

void TeamState::poison(ErrorCode code, const std::string& text, int origin_pe) {
  world_->set_trouble(code, text, origin_pe);
  const std::uint64_t who = static_cast<std::uint64_t>(world_->pe()) + 1;
  for (int i = 0; i < pes(); ++i) {
    if (words_->direct(i) == nullptr) {
      world_->transport()->word(words_->remote(i, offsetof(TeamWords, poison)), who, WordOp::Set);
      continue;
    }
    std::uint64_t none = 0;
    reinterpret_cast<std::atomic<std::uint64_t>*>(words_->direct(i))
        ->compare_exchange_strong(none, who, std::memory_order_seq_cst);
  }
  world_->ring_everyone();
}

void TeamState::throw_poisoned() const {
  const auto who = static_cast<int>(poison_->load() - 1);
  const FailureText& trouble = world_->peer(who).control->trouble;
  const auto at = std::ranges::find(members_, who);
  throw Error(trouble.code(),
              fmt::format("team {} is unusable since an error that PE {} noticed: {}", name_,
                          at - members_.begin(), trouble.text()));
}

Agreement TeamState::agreement_among(std::vector<int> places, const std::string& name) {
  Agreement agreement;
  agreement.participants = static_cast<int>(places.size());
  for (int i = 0; i < agreement.participants; ++i) agreement.who.push_back(i);
  std::uint64_t group = std::hash<std::string>()(name);
  for (const int place : places) group = mixed(group + static_cast<std::uint64_t>(place) + 1);
  agreement.gather = [this, group, places = std::move(places), what = "subteam \"" + name + '"',
                      round = std::uint64_t{0}](const void* mine, std::size_t bytes,
                                                void* all) mutable {
    rendezvous_.gather(places, mixed(group + ++round) | 1, what, mine, bytes, all);
  };
  return agreement;
}

std::string TeamState::awaited(const WaitSite& site) {
  std::string missing = site.lane >= 0 ? lane(site.lane).missing() : std::string();
  if (missing.empty() && site.on >= 0) missing = fmt::format("PE {}", site.on);
  return missing.empty() ? "a word that nobody has raised" : missing;
}

std::string TeamState::describe(const WaitSite& site) {
  if (site.lane < 0) return fmt::format("{} on team {}", site.what, name_);
  return fmt::format("{}, call {} on team {}", site.what, lane(site.lane).call(), name_);
}

std::string TeamState::text_of(const WaitSite& site) {
  return fmt::format("{}: waiting for {}", describe(site), awaited(site));
}

void TeamState::give_up(ErrorCode code, const std::string& text, int origin_pe) {
  poison(code, text, origin_pe);
  throw Error(code, text);
}

void TeamState::check_departed(const WaitSite& site, Predicate ready) {
  int departed = 0;
  for (int i = 0; i < pes(); ++i) {
    if (i == me_ || (site.on >= 0 && site.on != i)) continue;
    auto gone = world_->departed(member(i));
    if (!gone) continue;
    // What it raised before it left is visible now, or waits for delivery, or for an operation that
    // I have started to see it. If anybody may raise the word, PEs that have finished are no reason
    // to give up until all have.
    while (anything_moves(*world_)) {
    }
    if (ready()) return;
    ++departed;
    if (gone->finished && site.on < 0 && departed < pes() - 1) continue;
    // Who has finished may have left because another one failed.
    int who = i;
    for (int j = 0; gone->finished && j < pes(); ++j) {
      const auto other = j == me_ ? std::nullopt : world_->departed(member(j));
      if (!other || other->finished) continue;
      gone = other;
      who = j;
    }
    const int origin = gone->origin_pe;
    const std::string root = origin == member(who)
                                 ? std::string()
                                 : fmt::format(" (it began on PE {} of the job)", origin);
    give_up(
        ErrorCode::PeerFailed,
        fmt::format("{}: PE {} {}{}", describe(site), who,
                    gone->finished || origin == member(who) ? gone->text : "failed: " + gone->text,
                    root),
        origin);
  }
}

void TeamState::check(const WaitSite& site, std::chrono::nanoseconds waited, bool thorough,
                      Predicate ready) {
  if (poison_->load(std::memory_order_acquire) != 0) throw_poisoned();
  if (site.lane >= 0) lane(site.lane).check_arrivals();
  if (thorough) check_departed(site, ready);
  const auto limit = site.timeout.count() > 0 ? site.timeout : timeout();
  if (limit.count() == 0 || waited < limit || ready()) return;
  const std::string text = fmt::format("{}: nothing from {} within {:.3g} s", describe(site),
                                       awaited(site), seconds(limit));
  // A wait on a user's word is the user's affair; a call that cannot finish ends the team.
  if (!site.collective()) throw Error(ErrorCode::Timeout, text);
  give_up(ErrorCode::Timeout, text, world_->pe());
}

void TeamState::warn(const WaitSite& site, std::chrono::nanoseconds waited) {
  fmt::print(stderr, "tutti: PE {}: {} since {:.0f} s\n", me_, text_of(site), seconds(waited));
}

}  // namespace tutti::detail
