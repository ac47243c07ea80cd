// SPDX-License-Identifier: Apache-2.0
#include "primitives/shown_wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "primitives/team_state.hpp"
#include "primitives/world.hpp"

namespace tutti::detail {

void ShownWait::show() {
  if (!shown_) {
    if (world_.wait_shown().exchange(true)) return;  // another thread of this PE waits too
    shown_ = true;
    WaitRecord& record = world_.control().wait;
    // A wait with a deadline ends by itself; a PE with operations in flight is not held up by one.
    const bool has_deadline = site_.timeout.count() > 0 || site_.team->timeout().count() > 0;
    const bool by_call =
        site_.collective() && site_.on >= 0 && !has_deadline && !world_.fibers().any();
    record.on.store(by_call ? static_cast<std::uint64_t>(site_.team->member(site_.on)) + 1 : 0);
    record.looks.store(0);
    record.since_ns.store(
        static_cast<std::uint64_t>(std::chrono::nanoseconds(start_.time_since_epoch()).count()));
    record.version.fetch_add(1);
  }
  WaitRecord& record = world_.control().wait;
  record.text.set(site_.team->text_of(site_));
  record.looks.fetch_add(1);
}

ShownWait::~ShownWait() {
  if (!shown_) return;
  WaitRecord& record = world_.control().wait;
  record.since_ns.store(0);
  record.version.fetch_add(1);
  world_.wait_shown().store(false);
}

// Each PE that waits in a call waits for one other PE at a time, so the way from PE to PE has no
// branches; a cycle that I am not part of is found by those who are.
std::optional<std::vector<ShownWait::Step>> ShownWait::cycle() const {
  std::vector<Step> steps;
  int at = world_.pe();
  do {
    const ControlBlock& control = *world_.peer(at).control;
    const WaitRecord& record = control.wait;
    const std::uint64_t version = record.version.load();
    const std::uint64_t on = record.on.load();
    if (record.since_ns.load() == 0 || on == 0) return std::nullopt;
    if (steps.size() == static_cast<std::size_t>(world_.pes())) return std::nullopt;
    steps.push_back({at, version, record.looks.load()});
    at = static_cast<int>(on) - 1;
  } while (at != world_.pe());
  return steps;
}

std::string ShownWait::text_of(const std::vector<Step>& cycle) const {
  std::string text = "a cycle of waits, which calls on several teams in different orders make";
  for (const Step& step : cycle) {
    text += fmt::format("; PE {} of the job: {}", step.pe,
                        world_.peer(step.pe).control->wait.text.get());
  }
  return text;
}

// Why a cycle that is reported is one. Records with the versions of the first look were still shown
// at the second, so all these PEs waited all the time in between. Each of them looked twice more at
// what it waits for, so at least once from beginning to end between my looks, in vain. What it
// waits for comes from a PE that was waiting all that time, and comes before that PE's wait ends.
void ShownWait::look_again() {
  show();
  if (!shown_ || reported_) return;
  const auto now = cycle();
  const auto goes_on = [](const Step& then, const Step& here) {
    return then.pe == here.pe && then.version == here.version && here.looks >= then.looks + 2;
  };
  const auto same = [](const Step& then, const Step& here) {
    return then.pe == here.pe && then.version == here.version;
  };
  if (!now || !std::ranges::equal(suspects_, *now, same)) {
    suspects_ = now.value_or(std::vector<Step>());
    return;
  }
  if (!std::ranges::equal(suspects_, *now, goes_on)) return;
  const std::string text = text_of(*now);
  const bool several_threads = std::ranges::any_of(*now, [&](const Step& step) {
    return world_.peer(step.pe).control->several_threads.load() != 0;
  });
  if (!several_threads) site_.team->give_up(ErrorCode::Mismatch, text, world_.pe());
  // Another thread of one of them may still make the call that is missing.
  fmt::print(stderr, "tutti: PE {}: {}\n", world_.pe(), text);
  reported_ = true;
}

}  // namespace tutti::detail
