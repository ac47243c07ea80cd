// SPDX-License-Identifier: Apache-2.0
#include "primitives/world.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "primitives/cpu.hpp"
#include "primitives/fault.hpp"
#include "primitives/loopback.hpp"
#include "primitives/machine.hpp"
#include "primitives/settings.hpp"
#include "primitives/shown_segments.hpp"

namespace tutti::detail {
namespace {

constexpr int kSpins = 2000;
constexpr std::size_t kForkPageBytes = 4096;

struct Token {
  std::array<std::uint64_t, 2> bits{};
  friend bool operator==(const Token&, const Token&) = default;
};

Token random_token() {
  Token token;
  if (getrandom(&token, sizeof token, 0) != static_cast<ssize_t>(sizeof token)) {
    throw Error(ErrorCode::System, fmt::format("getrandom: {}", std::strerror(errno)));
  }
  return token;
}

/// The same for all threads of this process, and for no other process.
const Token& process_token() {
  static const Token token = random_token();
  return token;
}

/// A text for peers; cut if it is too long.
using Reason = std::array<char, 160>;

void set_reason(Reason& reason, const char* text) {
  std::strncpy(reason.data(), text, reason.size() - 1);
}

/// What each PE says of itself first.
struct Hello {
  bool good = true;
  Reason reason{};  ///< why not
  Token process;
  pid_t pid = 0;
  cpu_set_t cpus{};
  double quota = 0;
  Environment environment;
};

/// The control segment that each PE offers to the others.
struct Offer {
  bool made = false;
  int fd = -1;
  std::uint64_t shown_as = 0;  ///< to threads of this process
  std::uint64_t nonce = 0;
  Reason reason{};
};

/// What a PE could not map, if anything.
struct Unreached {
  int pe = -1;
  Reason reason{};
};

/// Throws nothing: the others wait for what this PE has to say.
Hello hello(int pe) {
  Hello mine;
  try {
    mine.process = process_token();
    mine.pid = getpid();
    mine.cpus = affinity();
    mine.quota = cgroup_cpu_quota();
    if (pe == 0) mine.environment = read_environment();  // the others' do not count
  } catch (const Error& error) {
    mine.good = false;
    set_reason(mine.reason, error.what());
  }
  return mine;
}

/// Maps the control segment that a peer offers, and proves that it is that. Throws `Error`.
SegmentRef control_of(const Peer& peer, const Offer& offer) {
  if (peer.same_process) return shown(offer.shown_as);
  auto segment = std::make_shared<Segment>(Segment::open(peer.pid, offer.fd, kControlBytes));
  const auto* control = reinterpret_cast<const ControlBlock*>(segment->data());
  if (control->nonce.load(std::memory_order_acquire) != offer.nonce) {
    throw Error(ErrorCode::System,
                fmt::format("descriptor {} of process {} is another memory", offer.fd, peer.pid));
  }
  return segment;
}

void check_hellos(const std::vector<Hello>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].good) continue;
    throw Error(ErrorCode::InvalidArgument, fmt::format("PE {}: {}", i, all[i].reason.data()));
  }
}

int usable_together(const std::vector<Hello>& all) {
  cpu_set_t together;
  CPU_ZERO(&together);
  double quota = 0;
  for (const Hello& each : all) {
    CPU_OR(&together, &together, &each.cpus);
    if (each.quota > 0) quota = quota == 0 ? each.quota : std::min(quota, each.quota);
  }
  const int cpus = CPU_COUNT(&together);
  return quota > 0 ? std::min(cpus, static_cast<int>(std::ceil(quota))) : cpus;
}

void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void introduce(Identity& identity, std::uint64_t job, int pe, int pes) {
  identity.job.store(job, std::memory_order_relaxed);
  identity.pe.store(static_cast<std::uint64_t>(pe), std::memory_order_relaxed);
  identity.pes.store(static_cast<std::uint64_t>(pes), std::memory_order_relaxed);
  identity.pid.store(static_cast<std::uint64_t>(getpid()), std::memory_order_relaxed);
  identity.magic.store(Identity::kMagic, std::memory_order_release);
}

char* make_fork_page() {
  void* page = fault_here(Fault::Mmap) ? MAP_FAILED
                                       : mmap(nullptr, kForkPageBytes, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw Error(ErrorCode::OutOfMemory, "mmap of one page failed");
  madvise(page, kForkPageBytes, MADV_WIPEONFORK);
  *static_cast<char*>(page) = 1;
  return static_cast<char*>(page);
}

}  // namespace

World::World(int pe, int pes, const Options& options, bool one_process)
    : pe_(pe),
      options_(options),
      one_process_(one_process),
      peers_(static_cast<std::size_t>(pes)),
      waiting_(*this, fibers_),
      heap_(!one_process) {}

std::shared_ptr<World> World::create(int pe, int pes, const Allgather& allgather,
                                     const Options& options) {
  arm_faults(pe);
  const Hello mine = hello(pe);
  std::vector<Hello> all(static_cast<std::size_t>(pes));
  allgather(&mine, sizeof mine, all.data());
  check_hellos(all);

  const bool one_process = std::all_of(all.begin(), all.end(), [&](const Hello& each) {
    return each.process == mine.process && each.pid == mine.pid;
  });
  std::shared_ptr<World> world(new World(pe, pes, options, one_process));
  world->settings_ = settle(all[0].environment, options);
  if (world->settings_.heap_bytes != 0) world->heap_.set_cap(world->settings_.heap_bytes);
  for (int i = 0; i < pes; ++i) {
    Peer& peer = world->peer(i);
    const Hello& theirs = all[static_cast<std::size_t>(i)];
    peer.pid = theirs.pid;
    peer.same_process = theirs.process == mine.process && theirs.pid == mine.pid;
    if (!peer.same_process) {
      peer.pidfd = static_cast<int>(syscall(SYS_pidfd_open, theirs.pid, 0));
    }
  }
  if (!world->settings_.tuning.empty()) {
    world->settings_.tuning_text = shared_file(world->settings_.tuning, pe, pes, allgather);
    const std::string machine = pe == 0 ? machine_text(this_machine()) : std::string();
    world->settings_.machine_text = shared_text(machine, pes, allgather);
  }
  world->connect(allgather);
  const int usable = usable_together(all);
  if (usable >= pes && world->transport_ == nullptr && nap_here().count() == 0) {
    world->waiting_.set_spins(kSpins);
  }
  if (const int workers = world->settings_.workers; workers > 1) {
    const int spins = usable >= pes * workers ? kSpins : 0;
    world->workers_ = std::make_unique<WorkerPool>(workers, mine.cpus, spins);
  }
  return world;
}

void World::connect(const Allgather& allgather) {
  const auto pes = peers_.size();
  Offer mine;
  try {
    fork_page_ = make_fork_page();
    // A memfd for threads too: it can be looked at from outside (see `job_status`).
    own_segment_ = std::make_shared<Segment>(Segment::create(kControlBytes, true, kControlName));
    own_control_ = new (own_segment_->data()) ControlBlock;
    mine = {true, own_segment_->fd(), show(own_segment_), random_token().bits[0] | 1, {}};
    own_control_->nonce.store(mine.nonce, std::memory_order_release);
  } catch (const Error& error) {
    set_reason(mine.reason, error.what());
  }
  std::vector<Offer> offers(pes);
  allgather(&mine, sizeof mine, offers.data());
  for (std::size_t i = 0; i < pes; ++i) {
    if (!offers[i].made) {
      throw Error(ErrorCode::OutOfMemory, fmt::format("PE {}: {}", i, offers[i].reason.data()));
    }
  }

  delay_here("world.attach");
  Unreached missing;
  for (std::size_t i = 0; i < pes; ++i) {
    Peer& peer = peers_[i];
    try {
      peer.control_segment = control_of(peer, offers[i]);
      peer.control = reinterpret_cast<ControlBlock*>(peer.control_segment->data());
    } catch (const Error& error) {
      // Another node, another user: all have to know before anyone gives up.
      missing.pe = static_cast<int>(i);
      set_reason(missing.reason, error.what());
    }
    peer.direct = !options_.loopback || static_cast<int>(i) == pe_;
  }
  std::vector<Unreached> unreached(pes);
  allgather(&missing, sizeof missing, unreached.data());
  for (std::size_t i = 0; i < pes; ++i) {
    if (unreached[i].pe < 0) continue;
    throw Error(ErrorCode::Unsupported,
                fmt::format("PE {} cannot reach the memory of PE {} by load and store ({}), and "
                            "this version has no transport between nodes",
                            i, unreached[i].pe, unreached[i].reason.data()));
  }
  node_sleepers_ = &peers_[0].control->node_sleepers;
  introduce(own_control_->identity, offers[0].nonce, pe_, this->pes());
  if (options_.loopback) {
    if (!one_process_) {
      throw Error(ErrorCode::Unsupported, "Options::loopback needs PEs that are threads");
    }
    transport_ = make_loopback(*this, options_.loopback_seed, allgather);
  }
}

World::~World() {
  if (workers_ != nullptr && forked()) workers_->abandon();
  if (own_control_ != nullptr && !forked()) {
    PeState running = PeState::Running;
    own_control_->state.compare_exchange_strong(running, PeState::Finished);
    ring_everyone();
  }
  for (const Peer& peer : peers_) {
    if (peer.pidfd >= 0) close(peer.pidfd);
  }
  if (fork_page_ != nullptr) munmap(fork_page_, kForkPageBytes);
}

std::uint64_t World::new_id() noexcept {
  return (static_cast<std::uint64_t>(pe_) + 1) << 40 | ids_.fetch_add(1);
}

void World::wake_one(int world_pe, std::uint32_t raiser_key) noexcept {
  ControlBlock* control = peer(world_pe).control;
  const std::uint64_t sleep = control->sleep.load(std::memory_order_seq_cst);
  if (sleep_word::sleepers(sleep) == 0) return;
  const std::uint32_t key = sleep_word::key(sleep);
  if (key != sleep_word::kAnything && raiser_key != sleep_word::kAnything && key != raiser_key) {
    return;
  }
  control->doorbell.fetch_add(1, std::memory_order_seq_cst);
  futex_wake_all(control->doorbell);
}

void World::wake(const std::vector<int>& world_pes) noexcept {
  for (const int world_pe : world_pes) {
    if (world_pe != pe_) wake_one(world_pe, static_cast<std::uint32_t>(pe_));
  }
}

void World::ring_everyone() noexcept {
  for (int i = 0; i < pes(); ++i) {
    if (peer(i).control != nullptr) wake_one(i, sleep_word::kAnything);  // else it never started
  }
}

std::optional<World::Departure> World::departed(int world_pe) {
  const Peer& other = peer(world_pe);
  const PeState state = other.control->state.load(std::memory_order_seq_cst);
  if (state == PeState::Failed) {
    return Departure{false, other.control->failure.origin_pe(), other.control->failure.text()};
  }
  if (state == PeState::Finished) {
    return Departure{true, world_pe, "has finished and makes no more calls"};
  }
  if (other.same_process) return std::nullopt;
  pollfd poll_it{other.pidfd, POLLIN, 0};
  const bool dead =
      other.pidfd >= 0 ? poll(&poll_it, 1, 0) == 1 : kill(other.pid, 0) != 0 && errno == ESRCH;
  if (!dead) return std::nullopt;
  return Departure{false, world_pe,
                   fmt::format("process {} was killed or ended without finishing", other.pid)};
}

void World::fail(ErrorCode code, const std::string& text, int origin_pe) noexcept {
  if (own_control_->state.load() != PeState::Running) return;
  own_control_->failure.set(code, text, origin_pe);
  own_control_->state.store(PeState::Failed, std::memory_order_seq_cst);
  ring_everyone();
}

void World::set_trouble(ErrorCode code, const std::string& text, int origin_pe) noexcept {
  own_control_->trouble.set(code, text, origin_pe);
}

void World::note_other_thread(const void* here) noexcept {
  const void* nobody = nullptr;
  if (!thread_.compare_exchange_strong(nobody, here)) {
    own_control_->several_threads.store(1, std::memory_order_relaxed);
  }
}

void World::refuse_fork() const {
  throw Error(ErrorCode::Unsupported,
              fmt::format("PE {}: a forked child cannot use its parent's teams", pe_));
}

void World::map_peer_segment(int world_pe, std::uint32_t index, int fd, std::size_t bytes,
                             std::uint64_t shown_as) {
  Peer& other = peer(world_pe);
  if (other.heap.size() <= index) other.heap.resize(index + 1);
  if (other.heap[index] != nullptr) return;
  other.heap[index] = other.same_process
                          ? shown(shown_as)
                          : std::make_shared<Segment>(Segment::open(other.pid, fd, bytes));
}

}  // namespace tutti::detail
