// SPDX-License-Identifier: Apache-2.0
#include "tutti/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "primitives/team_state.hpp"
#include "primitives/transfer_order.hpp"

namespace tutti {

using detail::TeamState;

Team::Team(std::shared_ptr<TeamState> state) noexcept : state_(std::move(state)) {}

int Team::pe() const noexcept { return state_->pe(); }
int Team::size() const noexcept { return state_->pes(); }
int Team::node() const noexcept { return 0; }
int Team::nodes() const noexcept { return 1; }
const std::string& Team::name() const noexcept { return state_->name(); }
double Team::measure_line_ns() { return state_->measure_line_ns(); }
void Team::barrier() {
  // An arrival is ordered behind my puts to its reader only; a third PE may look at what I put.
  if (!state_->all_direct()) detail::quiet(*state_, "barrier");
  state_->lane(0).barrier();
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
  return team;
}

}  // namespace tutti
