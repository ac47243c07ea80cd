// SPDX-License-Identifier: Apache-2.0
#include "support/processes.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <thread>

namespace tutti::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostPes = 16;
constexpr std::size_t kMostBytes = 8192;

/// What the parent and the PEs share: the bootstrap's mailboxes and the endings.
struct Shared {
  std::atomic<int> here{0};
  std::atomic<int> round{0};
  std::atomic<std::int64_t> fault_at{0};
  std::byte boxes[kMostPes][kMostBytes];
  char errors[kMostPes][600];
  double seconds[kMostPes];
};

std::int64_t now() { return Clock::now().time_since_epoch().count(); }

void meet(Shared& shared, int pes) {
  const int round = shared.round.load();
  if (shared.here.fetch_add(1) + 1 == pes) {
    shared.here.store(0);
    shared.round.fetch_add(1);
    return;
  }
  while (shared.round.load() == round) sched_yield();
}

class Timed final : public FaultClock {
 public:
  explicit Timed(Shared& shared) : shared_(shared) {}
  void fault_now() override { shared_.fault_at.store(now()); }

 private:
  Shared& shared_;
};

using SharedBody = std::function<void(Shared&, int pe, const Allgather&)>;

[[noreturn]] void be_pe(Shared& shared, int pe, int pes, const SharedBody& body) {
  const auto allgather = [&](const void* mine, std::size_t bytes, void* all) {
    if (bytes > kMostBytes) std::abort();
    std::memcpy(shared.boxes[pe], mine, bytes);
    meet(shared, pes);
    for (int i = 0; i < pes; ++i) {
      std::memcpy(static_cast<std::byte*>(all) + bytes * static_cast<std::size_t>(i),
                  shared.boxes[i], bytes);
    }
    meet(shared, pes);
  };
  int code = 0;
  try {
    body(shared, pe, allgather);
  } catch (const std::exception& error) {
    std::strncpy(shared.errors[pe], error.what(), sizeof shared.errors[pe] - 1);
    const auto ticks = Clock::duration(now() - shared.fault_at.load());
    shared.seconds[pe] = std::chrono::duration<double>(ticks).count();
    code = 1;
  }
  _exit(code);
}

std::vector<Ending> fork_and_wait(int pes, const SharedBody& body, double limit_seconds) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (memory) Shared;
  std::vector<pid_t> pids;
  for (int pe = 0; pe < pes; ++pe) {
    const pid_t pid = fork();
    if (pid == 0) be_pe(*shared, pe, pes, body);
    pids.push_back(pid);
  }
  std::vector<Ending> endings(static_cast<std::size_t>(pes));
  const auto limit = Clock::now() + std::chrono::duration<double>(limit_seconds);
  for (std::size_t i = 0; i < pids.size(); ++i) {
    while (waitpid(pids[i], &endings[i].status, WNOHANG) == 0) {
      if (Clock::now() > limit) kill(pids[i], SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    endings[i].error = shared->errors[i];
    endings[i].seconds = shared->seconds[i];
  }
  munmap(memory, sizeof(Shared));
  return endings;
}

}  // namespace

std::vector<Ending> run_bare_processes(int pes, const BareBody& body, double limit_seconds) {
  return fork_and_wait(
      pes, [&](Shared&, int pe, const Allgather& allgather) { body(pe, allgather); },
      limit_seconds);
}

std::vector<Ending> run_processes(int pes, const ProcessBody& body, const Options& options,
                                  double limit_seconds) {
  return fork_and_wait(
      pes,
      [&](Shared& shared, int pe, const Allgather& allgather) {
        Team team = from_bootstrap(pe, pes, allgather, options);
        Timed clock(shared);
        body(team, clock);
      },
      limit_seconds);
}

}  // namespace tutti::tests
