// SPDX-License-Identifier: Apache-2.0
#include "tutti/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "primitives/team_state.hpp"
#include "primitives/transfer_order.hpp"

namespace tutti {

using detail::TeamState;

namespace {
constexpr std::size_t kMostNameBytes = 127;
}

Team::Team(std::shared_ptr<TeamState> state) noexcept : state_(std::move(state)) {}

int Team::pe() const noexcept { return state_->pe(); }
int Team::size() const noexcept { return state_->pes(); }
int Team::node() const noexcept { return 0; }
int Team::nodes() const noexcept { return 1; }
int Team::workers() const noexcept { return state_->world().settings().workers; }
const std::string& Team::name() const noexcept { return state_->name(); }
bool Team::shared_address_space() const noexcept { return state_->shared_address_space(); }
double Team::measure_line_ns() { return state_->measure_line_ns(); }
void Team::barrier() {
  // An arrival is ordered behind my puts to its reader only; a third PE may look at what I put.
  if (!state_->all_direct()) detail::quiet(*state_, "barrier");
  state_->lane(0).barrier();
}

std::string_view Team::barrier_algorithm() const noexcept {
  return detail::name_of(state_->lane(0).barrier_kind());
}

Team Team::split(int color, int key) {
  struct Choice {
    int color;
    int key;
  };
  const Choice mine{color, key};
  std::vector<Choice> all(static_cast<std::size_t>(size()));
  state_->lane(0).exchange(&mine, sizeof mine, all.data());

  std::vector<int> places;  // in this team
  for (int i = 0; i < size(); ++i) {
    const Choice& choice = all[static_cast<std::size_t>(i)];
    if (choice.color < 0) {
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("split of team {}: PE {} gives color {}, allowed are 0 and above",
                              name(), i, choice.color));
    }
    if (choice.color == color) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
    return all[static_cast<std::size_t>(a)].key < all[static_cast<std::size_t>(b)].key;
  });
  std::vector<int> members;
  for (const int place : places) members.push_back(state_->member(place));

  detail::Agreement agreement = state_->agreement();
  agreement.who = places;
  const auto me = std::ranges::find(places, pe()) - places.begin();
  return Team(TeamState::create(state_->shared_world(), std::move(members), static_cast<int>(me),
                                agreement, fmt::format("{}/{}", name(), color)));
}

Team Team::subteam(std::string_view name, std::span<const int> pes) {
  const auto refuse = [&](const std::string& text) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("subteam of team {}, PE {}: {}", this->name(), pe(), text));
  };
  if (name.empty() || name.size() > kMostNameBytes) {
    refuse(
        fmt::format("a name of {} characters; allowed are 1 to {}", name.size(), kMostNameBytes));
  }
  std::vector<int> members;
  for (std::size_t i = 0; i < pes.size(); ++i) {
    if (pes[i] < 0 || pes[i] >= size()) {
      refuse(fmt::format("\"{}\" has PE {}; allowed are 0 to {}", name, pes[i], size() - 1));
    }
    if (std::ranges::count(pes, pes[i]) != 1) {
      refuse(fmt::format("\"{}\" has PE {} more than once", name, pes[i]));
    }
    members.push_back(state_->member(pes[i]));
  }
  const auto me = std::ranges::find(pes, pe());
  if (me == pes.end()) {
    refuse(fmt::format("\"{}\" is {{{}}}; only its members call", name, fmt::join(pes, ", ")));
  }
  const std::string own_name(name);
  const std::vector<int> places(pes.begin(), pes.end());
  const detail::Agreement agreement = state_->agreement_among(places, own_name);
  try {
    return Team(TeamState::create(state_->shared_world(), std::move(members),
                                  static_cast<int>(me - pes.begin()), agreement,
                                  fmt::format("{}/{}", this->name(), own_name)));
  } catch (const Error& error) {
    // Agreed: all members are here. One round more, so that the next attempt finds other posts.
    std::vector<char> done(places.size());
    if (error.code() == ErrorCode::OutOfMemory) agreement.gather(done.data(), 1, done.data());
    throw;
  }
}

Team from_bootstrap(int pe, int pes, const Allgather& allgather, const Options& options) {
  if (pe < 0 || pe >= pes) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("from_bootstrap: PE {} of {} PEs; 0 <= pe < pes must hold", pe, pes));
  }
  auto world = detail::World::create(pe, pes, allgather, options);
  std::vector<int> members(static_cast<std::size_t>(pes));
  for (int i = 0; i < pes; ++i) members[static_cast<std::size_t>(i)] = i;
  const detail::Agreement agreement{allgather, pes, members};
  Team team(TeamState::create(world, members, pe, agreement, "world"));
  world->set_line_ns(static_cast<int>(team.measure_line_ns()));
  world->forget_thread();
  return team;
}

}  // namespace tutti
