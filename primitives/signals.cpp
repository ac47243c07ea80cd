// SPDX-License-Identifier: Apache-2.0
#include "tutti/signals.hpp"

#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "primitives/fault.hpp"
#include "primitives/team_state.hpp"
#include "primitives/tensor_checks.hpp"
#include "primitives/transfer_order.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t kMostWords = std::size_t{1} << 32;

constexpr const char* maker_of(WordKind kind) {
  switch (kind) {
    case WordKind::Signal:
      return "make_signals";
    case WordKind::Counter:
      return "make_counters";
    case WordKind::Atomic:
      return "make_atomics";
    case WordKind::Published:
      break;
  }
  return "make_published";
}

struct Wish {
  std::size_t count = 0;
  WordKind kind = WordKind::Signal;
};

/// The same outcome on every PE, since all look at the same wishes.
void check_wishes(const TeamState& team, const std::vector<Wish>& wishes) {
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const Wish& wish = wishes[i];
    const char* maker = maker_of(wish.kind);
    if (wish.kind != wishes[0].kind || wish.count != wishes[0].count) {
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format("{} on team {}: PE {} asks for {} words, but PE 0 for {} of {}", maker,
                      team.name(), i, wish.count, wishes[0].count, maker_of(wishes[0].kind)));
    }
    if (wish.count > kMostWords) {
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("{} on team {}: {} words; allowed are 0 to {}", maker, team.name(),
                              wish.count, kMostWords));
    }
  }
}

}  // namespace

std::shared_ptr<const WordsState> make_words(const Team& team, std::size_t count, WordKind kind) {
  auto words = std::make_shared<WordsState>();
  words->team = team.shared_state();
  words->count = count;
  const Wish mine{count, kind};
  std::vector<Wish> wishes(static_cast<std::size_t>(team.size()));
  words->team->lane(0).exchange(&mine, sizeof mine, wishes.data());
  check_wishes(*words->team, wishes);
  const auto mirrors = kind == WordKind::Published ? Block::Mirrors::Yes : Block::Mirrors::No;
  words->block = Block::create(words->team->shared_world(), words->team->members(),
                               words->team->pe(), {.bytes = count * kLine, .mirrors = mirrors},
                               words->team->agreement(), maker_of(kind));
  return words;
}

Team team_of(const WordsState& words) { return Team(words.team); }

void refuse_word(const WordsState& words, std::size_t index) {
  refuse(*words.team, "a word", fmt::format("index {} of {} words", index, words.count));
}

std::uint64_t word_value(const WordAt& word, int pe) {
  const TeamState& team = *word.words->team;
  if (pe == -1) pe = team.pe();
  check_pe(team, "value", pe);
  std::byte* at = word.words->block->readable(pe) + word.index * kLine;
  return word_at(at).load(std::memory_order_acquire);
}

Token raise(const WordAt& word, int pe, std::uint64_t value, WordUpdate update,
            std::span<const Token> after) {
  TeamState& team = *word.words->team;
  const Block& block = *word.words->block;
  team.check_usable();
  if (pe != kAllPes) [[likely]] {
    check_pe(team, "signal", pe);
    order(team, after, team.member(pe), Kind::Word);
    raise_word(team, block, word.index * kLine, pe, value, update);
    return receipt(team, block, pe);
  }
  order(team, after, Token::kSeveral, Kind::Word);
  for (int i = 0; i < team.pes(); ++i) {
    raise_word(team, block, word.index * kLine, i, value, update);
  }
  return block.all_direct() ? Token() : Token(Token::kSeveral);
}

Token publish(const WordAt& word, std::uint64_t value, std::span<const Token> after) {
  TeamState& team = *word.words->team;
  const Block& block = *word.words->block;
  team.check_usable();
  order(team, after, Token::kSeveral, Kind::Word);
  delay_here("signal.publish");
  const std::size_t offset = word.index * kLine;
  // Publishes all that this PE stored before to whoever polls its word.
  word_at(block.local() + offset).exchange(value, std::memory_order_seq_cst);
  team.world().ring(team.members());
  if (block.all_direct()) [[likely]] {
    return {};
  }
  for (int i = 0; i < team.pes(); ++i) block.push_word(i, offset, value);
  return Token(Token::kSeveral);
}

void clear_word(const WordAt& word) noexcept {
  std::byte* at = word.words->block->local() + word.index * kLine;
  word_at(at).store(0, std::memory_order_seq_cst);
}

}  // namespace tutti::detail
