// SPDX-License-Identifier: Apache-2.0
#include "primitives/wait.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "primitives/fault.hpp"
#include "primitives/shown_wait.hpp"
#include "primitives/team_state.hpp"
#include "primitives/world.hpp"

namespace tutti::detail {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kYields = 100;
constexpr milliseconds kShortestSleep{1};
constexpr milliseconds kLongestSleep{50};
constexpr milliseconds kBetweenThoroughChecks{50};
constexpr std::chrono::seconds kBetweenWarnings{60};

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, milliseconds most) {
  const timespec limit{most.count() / 1000, (most.count() % 1000) * 1'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

/// Announces one more sleeper; two that wait for different PEs are woken by anything.
void announce(Word& word, std::uint32_t key) {
  std::uint64_t now = word.load();
  std::uint64_t next = 0;
  do {
    const std::uint32_t others = sleep_word::sleepers(now);
    const bool same = others == 0 || sleep_word::key(now) == key;
    next = sleep_word::make(others + 1, same ? key : sleep_word::kAnything);
  } while (!word.compare_exchange_weak(now, next, std::memory_order_seq_cst));
}

void withdraw(Word& word) { word.fetch_sub(sleep_word::make(1, 0), std::memory_order_seq_cst); }

}  // namespace

// An operation waits: the program goes on, and comes back whenever it waits itself.
void WaitEngine::on_fiber(Predicate ready, const WaitSite& site) {
  const auto start = Clock::now();
  auto thorough_at = start + kBetweenThoroughChecks;
  while (!ready()) {
    world_.fibers().yield();
    if (ready()) break;
    const auto now = Clock::now();
    const bool thorough = now >= thorough_at;
    site.team->check(site, now - start, thorough, ready);
    if (thorough) thorough_at = now + kBetweenThoroughChecks;
  }
  world_.fibers().note_progress();
}

void WaitEngine::sleep(Predicate ready, const WaitSite& site, milliseconds most) {
  ControlBlock& control = world_.control();
  const std::uint32_t key = site.on >= 0 && !attentive()
                                ? static_cast<std::uint32_t>(site.team->member(site.on))
                                : sleep_word::kAnything;
  announce(control.sleep, key);
  world_.node_sleepers().fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t bell = control.doorbell.load(std::memory_order_seq_cst);
  bool done = false;
  try {
    // Messages that came before I announced myself rang no bell.
    const bool more_to_come = world_.transport() != nullptr && world_.transport()->progress();
    const bool operations_moved = attentive() && world_.fibers().drive();
    done = ready() || more_to_come || operations_moved;
  } catch (...) {
    world_.node_sleepers().fetch_sub(1, std::memory_order_seq_cst);
    withdraw(control.sleep);
    throw;
  }
  if (!done) futex_wait(control.doorbell, bell, most);
  world_.node_sleepers().fetch_sub(1, std::memory_order_seq_cst);
  withdraw(control.sleep);
}

void WaitEngine::slow(Predicate ready, const WaitSite& site) {
  if (world_.fibers().any() && world_.fibers().inside()) return on_fiber(ready, site);
  const auto start = Clock::now();
  auto thorough_at = start + kBetweenThoroughChecks;
  auto warn_at = start + kBetweenWarnings;
  const milliseconds forced_nap = nap_here();
  milliseconds nap = std::max(kShortestSleep, forced_nap);
  const int yields = forced_nap.count() > 0 ? 0 : kYields;
  ShownWait shown(world_, site, start);
  for (int round = 0;; ++round) {
    const bool more_to_come = world_.transport() != nullptr && world_.transport()->progress();
    if (attentive() && world_.fibers().drive()) {
      round = 0;  // they move: no time to sleep
      nap = std::max(kShortestSleep, forced_nap);
    }
    if (ready()) return;
    const auto now = Clock::now();
    const bool thorough = now >= thorough_at;
    site.team->check(site, now - start, thorough, ready);
    if (thorough) {
      shown.look_again();
      thorough_at = now + kBetweenThoroughChecks;
    }
    if (now >= warn_at) {
      site.team->warn(site, now - start);
      warn_at = now + kBetweenWarnings;
    }
    if (round < yields || more_to_come) {
      sched_yield();
      continue;
    }
    sleep(ready, site, nap);
    nap = std::min(nap * 2, std::max(kLongestSleep, forced_nap));
  }
}

}  // namespace tutti::detail
