// SPDX-License-Identifier: Apache-2.0
#include "primitives/rendezvous.hpp"

#include <atomic>
#include <cstring>
#include <stdexcept>

#include "primitives/fault.hpp"
#include "primitives/signals_look.hpp"
#include "primitives/team_state.hpp"
#include "primitives/transfer_order.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t offset_of(std::size_t member) { return offsetof(TeamWords, post) + member; }

}  // namespace

void Rendezvous::post(const std::vector<int>& places, std::uint64_t tag, const void* mine,
                      std::size_t bytes) {
  Block& words = team_->words();
  std::byte* own = words.local();
  std::memcpy(own + offset_of(offsetof(Post, payload)), mine, bytes);
  for (const int place : places) words.push(place, offset_of(offsetof(Post, payload)), bytes);
  delay_here("rendezvous.post");
  // Publishes the payload.
  word_at(own + offset_of(offsetof(Post, tag))).exchange(tag, std::memory_order_seq_cst);
  team_->world().ring(team_->members());
  for (const int place : places) words.push_word(place, offset_of(offsetof(Post, tag)), tag);
  owed_ += places.size() - 1;
}

void Rendezvous::gather(const std::vector<int>& places, std::uint64_t tag, const std::string& what,
                        const void* mine, std::size_t bytes, void* all) {
  if (bytes > kAgreementBytes) throw std::logic_error("Rendezvous::gather: too many bytes");
  team_->check_usable();
  team_->world().note_thread();
  Block& words = team_->words();
  WaitSite site{.team = team_, .what = what.c_str(), .of_call = true};
  // The readers' words: nobody reads my last post any more.
  std::byte* taken = words.local() + offset_of(offsetof(Post, taken));
  team_->world().waiting().until([&] { return load_word(taken) >= owed_; }, site);
  post(places, tag, mine, bytes);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int place = places[i];
    std::byte* to = static_cast<std::byte*>(all) + i * bytes;
    if (place == team_->pe()) {
      std::memcpy(to, mine, bytes);
      continue;
    }
    std::byte* theirs = words.readable(place);
    site.on = place;
    team_->world().waiting().until(
        [&] { return load_word(theirs + offset_of(offsetof(Post, tag))) == tag; }, site);
    std::memcpy(to, theirs + offset_of(offsetof(Post, payload)), bytes);
    delay_here("rendezvous.taken");
    raise_word(*team_, words, offset_of(offsetof(Post, taken)), place, 1, WordUpdate::Add);
  }
}

}  // namespace tutti::detail
