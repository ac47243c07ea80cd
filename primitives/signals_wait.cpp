// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "primitives/fault.hpp"
#include "primitives/signals_look.hpp"
#include "primitives/team_state.hpp"
#include "primitives/tensor_checks.hpp"
#include "primitives/transfer_order.hpp"
#include "tutti/wait.hpp"

namespace tutti::detail {
namespace {

std::uint64_t load(const WordAt& word, int pe) {
  return load_word(word.words->block->readable(pe) + word.index * kLine);
}

/// What is here for a team's own words.
struct Here {
  TeamState& team;
  Cmp cmp;
  std::uint64_t value;

  bool operator()(const WordAt& word) const { return holds(load(word, team.pe()), cmp, value); }
};

WaitSite site_of(TeamState& team, const char* what, int on, std::chrono::milliseconds timeout) {
  return {&team, what, -1, on, timeout};
}

TeamState& team_of(const WordSet& set, const char* what) {
  TeamState& team = *set.at(set.range, 0).words->team;
  for (std::size_t i = 1; i < set.size; ++i) {
    if (set.at(set.range, i).words->team.get() != &team) {
      refuse(team, what, fmt::format("word {} is of another team", i));
    }
  }
  return team;
}

}  // namespace

void wait_until(const WordAt& word, Cmp cmp, std::uint64_t value, std::chrono::milliseconds timeout,
                std::span<const Token> after) {
  TeamState& team = *word.words->team;
  team.check_usable();
  order(team, after, Token::kDone, Kind::Word);
  const Here here{team, cmp, value};
  team.world().waiting().until([&] { return here(word); },
                               site_of(team, "wait_until", -1, timeout));
  delay_here("signal.seen");
}

bool test(const WordAt& word, Cmp cmp, std::uint64_t value) {
  const Here here{*word.words->team, cmp, value};
  return look(here.team, -1, [&] { return here(word); });
}

void await(const WordAt& word, int pe, std::uint64_t value, std::chrono::milliseconds timeout) {
  TeamState& team = *word.words->team;
  team.check_usable();
  check_pe(team, "await", pe);
  team.world().waiting().until([&] { return load(word, pe) >= value; },
                               site_of(team, "await", pe, timeout));
  delay_here("signal.seen");
}

bool test_published(const WordAt& word, int pe, std::uint64_t value) {
  TeamState& team = *word.words->team;
  check_pe(team, "test", pe);
  return look(team, pe, [&] { return load(word, pe) >= value; });
}

std::size_t wait_any(const WordSet& set, Cmp cmp, std::uint64_t value,
                     std::chrono::milliseconds timeout) {
  if (set.size == 0) {
    throw Error(ErrorCode::InvalidArgument,
                "wait_any or wait_some on no words; at least 1 is needed");
  }
  TeamState& team = team_of(set, "wait_any");
  team.check_usable();
  const Here here{team, cmp, value};
  std::size_t found = 0;
  auto any = [&] {
    for (found = 0; found < set.size; ++found) {
      if (here(set.at(set.range, found))) return true;
    }
    return false;
  };
  team.world().waiting().until(any, site_of(team, "wait_any", -1, timeout));
  return found;
}

void wait_all(const WordSet& set, Cmp cmp, std::uint64_t value, std::chrono::milliseconds timeout) {
  if (set.size == 0) return;
  TeamState& team = team_of(set, "wait_all");
  team.check_usable();
  const Here here{team, cmp, value};
  std::size_t first = 0;  // before it, all have compared true
  auto all = [&] {
    while (first < set.size && here(set.at(set.range, first))) ++first;
    return first == set.size;
  };
  team.world().waiting().until(all, site_of(team, "wait_all", -1, timeout));
}

std::optional<std::size_t> test_any(const WordSet& set, Cmp cmp, std::uint64_t value) {
  if (set.size == 0) return std::nullopt;
  const Here here{team_of(set, "test_any"), cmp, value};
  std::size_t found = 0;
  const bool any = look(here.team, -1, [&] {
    for (found = 0; found < set.size; ++found) {
      if (here(set.at(set.range, found))) return true;
    }
    return false;
  });
  return any ? std::optional(found) : std::nullopt;
}

bool test_all(const WordSet& set, Cmp cmp, std::uint64_t value) {
  if (set.size == 0) return true;
  const Here here{team_of(set, "test_all"), cmp, value};
  return look(here.team, -1, [&] {
    std::size_t i = 0;
    while (i < set.size && here(set.at(set.range, i))) ++i;
    return i == set.size;
  });
}

std::vector<std::size_t> test_some(const WordSet& set, Cmp cmp, std::uint64_t value) {
  std::vector<std::size_t> found;
  if (set.size == 0) return found;
  const Here here{team_of(set, "test_some"), cmp, value};
  look(here.team, -1, [&] {
    found.clear();
    for (std::size_t i = 0; i < set.size; ++i) {
      if (here(set.at(set.range, i))) found.push_back(i);
    }
    return !found.empty();
  });
  return found;
}

}  // namespace tutti::detail
