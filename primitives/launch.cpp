// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "primitives/cpu.hpp"
#include "primitives/launch_abi.hpp"
#include "primitives/team_state.hpp"
#include "primitives/text.hpp"
#include "tutti/error.hpp"
#include "tutti/team.hpp"

namespace tutti {
namespace {

/// The allgather of threads of one process. If one of them fails, nobody waits for it.
class ThreadBootstrap {
 public:
  explicit ThreadBootstrap(int pes) : pes_(pes) {}

  void gather(int pe, const void* mine, std::size_t bytes, void* all) {
    std::unique_lock lock(mutex_);
    parts_.resize(bytes * static_cast<std::size_t>(pes_));
    std::memcpy(parts_.data() + bytes * static_cast<std::size_t>(pe), mine, bytes);
    meet(lock);
    std::memcpy(all, parts_.data(), parts_.size());
    meet(lock);  // nobody writes the next parts before all have copied these
  }

  void fail() {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  void meet(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t round = round_;
    if (++here_ == pes_) {
      here_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round || failed_; });
    if (round_ == round) throw Error(ErrorCode::PeerFailed, "another PE failed to start");
  }

  const int pes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte> parts_;
  int here_ = 0;
  std::uint64_t round_ = 0;
  bool failed_ = false;
};

struct Described {
  ErrorCode code;
  std::string text;
};

Described describe(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::exception& error) {
    return {ErrorCode::PeerFailed, error.what()};
  } catch (...) {
    return {ErrorCode::PeerFailed, "an exception that is not a std::exception"};
  }
}

/// Whether an exception only says that another PE failed.
bool is_consequence(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error.code() == ErrorCode::PeerFailed || error.code() == ErrorCode::Poisoned;
  } catch (...) {
    return false;
  }
}

/// The failure that a job ends with: the first one in time that is not the consequence of another.
/// A PE that refuses its arguments posts that before it throws, so others may be quicker.
struct FirstFailure {
  std::mutex mutex;
  int pe = -1;
  std::exception_ptr what;

  /// Also describes the exception: once the lock is free another PE may give it away.
  Described note(int pe_failed, const std::exception_ptr& exception) {
    const std::scoped_lock lock(mutex);
    if (pe < 0 || (is_consequence(what) && !is_consequence(exception))) {
      pe = pe_failed;
      what = exception;
    }
    return describe(exception);
  }
};

int exit_code(ErrorCode code) {
  return code == ErrorCode::InvalidArgument || code == ErrorCode::Tuning ? 2 : 1;
}

/// Threads of each PE, itself included.
int workers_of(const Options& options) {
  return detail::settle(detail::read_environment(), options).workers;
}

/// Where PEs with their workers do not outnumber the CPUs each PE keeps to its own, as processes of
/// mpirun do. Its workers keep to what it may use.
void bind_thread(int pe, int pes, int workers) {
  const cpu_set_t mask = detail::affinity();
  if (pes * workers > usable_cpus() || pes < 2) return;
  cpu_set_t own;
  CPU_ZERO(&own);
  int place = 0;  // of a CPU among those of the mask
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    if (place++ / workers == pe) CPU_SET(cpu, &own);
  }
  sched_setaffinity(0, sizeof own, &own);
}

void check_pes(int pes) {
  if (pes < 1) {
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} PEs; at least 1 is needed", pes));
  }
}

/// Runs `body` on a thread for each PE; the team of a PE that fails tells the others.
void run_threads(int pes, const std::function<void(Team&)>& body, const Options& options,
                 FirstFailure& failure) {
  ThreadBootstrap bootstrap(pes);
  const int workers = workers_of(options);
  const auto run_pe = [&](int pe) {
    std::optional<Team> team;
    try {
      bind_thread(pe, pes, workers);
      const auto gather = [&](const void* mine, std::size_t bytes, void* all) {
        bootstrap.gather(pe, mine, bytes, all);
      };
      team.emplace(from_bootstrap(pe, pes, gather, options));
      body(*team);
    } catch (...) {
      const Described what = failure.note(pe, std::current_exception());
      bootstrap.fail();
      if (team) team->state().world().fail(what.code, what.text, pe);
    }
  };
  std::vector<std::jthread> threads;
  for (int pe = 0; pe < pes; ++pe) threads.emplace_back(run_pe, pe);
}

std::optional<int> pes_from_environment() {
  const char* text = std::getenv("TUTTI_PES");
  if (text == nullptr) return std::nullopt;
  constexpr int kMostPes = 4096;
  if (const auto pes = detail::read_number(text, 1, kMostPes)) return pes;
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("TUTTI_PES is \"{}\"; allowed are numbers from 1 to {}", text, kMostPes));
}

TuttiMpiStart load_mpi() {
  void* library = dlopen(TUTTI_MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw Error(ErrorCode::Unsupported,
                fmt::format("started by mpirun, but {} cannot be loaded: {}", TUTTI_MPI_LIBRARY,
                            dlerror()));
  }
  return reinterpret_cast<TuttiMpiStart>(dlsym(library, kTuttiMpiStart));
}

int launch_process(int argc, char** argv, const std::function<void(Team&)>& body,
                   const Options& options) {
  const TuttiMpiJob job = load_mpi()(&argc, &argv);
  std::optional<Team> team;
  try {
    if (const auto pes = pes_from_environment(); pes && *pes != job.pes) {
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("TUTTI_PES is {}, but mpirun started {} PEs", *pes, job.pes));
    }
    team.emplace(from_bootstrap(job.pe, job.pes, job.allgather, options));
    body(*team);
  } catch (...) {
    const Described what = describe(std::current_exception());
    fmt::print(stderr, "tutti: PE {}: {}\n", job.pe, what.text);
    if (team) team->state().world().fail(what.code, what.text, job.pe);
    std::fflush(nullptr);
    _exit(exit_code(what.code));  // MPI_Finalize would wait for the others
  }
  team.reset();
  job.finish();
  return 0;
}

}  // namespace

void run(int pes, const std::function<void(Team&)>& body, const Options& options) {
  check_pes(pes);
  FirstFailure failure;
  run_threads(pes, body, options, failure);
  if (failure.what) std::rethrow_exception(failure.what);
}

std::vector<Team> thread_teams(int pes, const Options& options) {
  check_pes(pes);
  std::vector<std::optional<Team>> made(static_cast<std::size_t>(pes));
  run(
      pes, [&](Team& team) { made[static_cast<std::size_t>(team.pe())] = team; }, options);
  std::vector<Team> teams;
  for (std::optional<Team>& team : made) teams.push_back(std::move(*team));
  return teams;
}

int launch(int argc, char** argv, const std::function<void(Team&)>& body, const Options& options) {
  try {
    if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) {
      return launch_process(argc, argv, body, options);
    }
    const int room = std::max(1, usable_cpus() / workers_of(options));
    const int pes = pes_from_environment().value_or(room);
    FirstFailure failure;
    run_threads(pes, body, options, failure);
    if (!failure.what) return 0;
    const Described what = describe(failure.what);
    fmt::print(stderr, "tutti: PE {}: {}\n", failure.pe, what.text);
    return exit_code(what.code);
  } catch (const Error& error) {
    fmt::print(stderr, "tutti: {}\n", error.what());
    return exit_code(error.code());
  }
}

}  // namespace tutti
