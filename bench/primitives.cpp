// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/baseline.hpp"
#include "bench/cells.hpp"
#include "bench/compare_blocks.hpp"
#include "bench/engine.hpp"
#include "bench/hand_copy.hpp"

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kSmallRepeats = 500;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

PrimitiveResult barrier(Team& team, int rounds) {
  const auto ours = [&] {
    team.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < kSmallRepeats; ++i) team.barrier();
    return seconds_since(start) / kSmallRepeats;
  };
  const bool mpi = mpi_runs();
  const auto theirs = [&](double line_ns) {
    if (!mpi) return line_ns * 1e-9;
    mpi_barrier();
    const auto start = Clock::now();
    for (int i = 0; i < kSmallRepeats; ++i) mpi_barrier();
    return seconds_since(start) / kSmallRepeats;
  };
  PrimitiveResult result = compare(team, rounds, ours, theirs);
  result.compared_with = mpi ? "beside MPI_Barrier" : "beside the line transfer";
  return result;
}

/// Four collectives at two sizes each.
std::vector<Problem> problems_in_turn(const Team& team) {
  std::vector<Problem> all;
  for (const Collective collective : {Collective::Allreduce, Collective::Allgather,
                                      Collective::ReduceScatter, Collective::Alltoall}) {
    for (const std::size_t count : {std::size_t{64}, std::size_t{4096}}) {
      Problem problem;
      problem.collective = collective;
      problem.count = count;
      all.push_back(explain(team, problem).problem);  // with the team's facts
    }
  }
  return all;
}

/// Finding what a call runs, of so many known problems in turn, beside what it may take.
PrimitiveResult decision(Team& team, std::size_t count, int rounds) {
  constexpr int kRepeats = 10 * kSmallRepeats;
  constexpr double kAllowed = 5e-9;
  std::vector<Problem> problems = problems_in_turn(team);
  problems.resize(count);
  const auto ours = [&] {
    const auto start = Clock::now();
    for (int i = 0; i < kRepeats; ++i) {
      for (Problem& problem : problems) detail::decide(team, problem, {});
    }
    return seconds_since(start) / (kRepeats * static_cast<double>(problems.size()));
  };
  PrimitiveResult result = compare(team, rounds, ours, [](double) { return kAllowed; });
  for (Problem& problem : problems) {
    const Algorithm* decided = detail::decide(team, problem, {});
    result.wrong += explain(team, problem).algorithm != decided ? 1 : 0;
  }
  result.compared_with = "beside the 5 ns that it may take";
  return result;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// CPU time of half a second of waiting, after the first tenth of a second, beside 2 % of a core.
PrimitiveResult waiting(Team& team, int rounds) {
  constexpr std::chrono::milliseconds kFirst{100};
  constexpr std::chrono::milliseconds kLong{600};
  auto words = make_signals(team, 1);
  std::uint64_t raised = 0;
  const auto cpu_of_wait = [&](std::chrono::milliseconds length) {
    ++raised;
    team.barrier();
    const double before = cpu_seconds();
    if (team.pe() == 0) {
      std::this_thread::sleep_for(length);
      for (int pe = 1; pe < team.size(); ++pe) signal(words[0], pe, raised, Update::Set);
      return 0.0;
    }
    wait_until(words[0], Cmp::Ge, raised);
    return cpu_seconds() - before;
  };
  const auto ours = [&] { return std::max(0.0, cpu_of_wait(kLong) - cpu_of_wait(kFirst)); };
  const auto allowed = [](double) { return 0.02 * 0.5; };
  PrimitiveResult result = compare(team, std::min(rounds, 3), ours, allowed);
  result.compared_with = "CPU time of 0.5 s of waiting, beside 2 % of a core";
  return result;
}

/// The receiver reads what it was sent, each line of it: data that nobody reads stay in the
/// sender's cache.
void read_all(std::span<const std::uint8_t> data) {
  std::uint8_t sum = 0;
  for (std::size_t i = 0; i < data.size(); i += 64) sum ^= data[i];
  volatile std::uint8_t sink = sum;
  static_cast<void>(sink);
}

/// One way: half a round trip of put_signal, wait_until and a read between PE 0 and PE 1, through
/// the signal that the tensor's tile brings along or through a word of its own.
PrimitiveResult put_signal_one_way(Team& team, std::size_t bytes, bool own_word, int rounds) {
  auto data = make_tensor<std::uint8_t>(team, {bytes}, {}, {.signals = signals::one});
  auto words = make_signals(team, 1);
  std::vector<std::uint8_t> payload(bytes, 1);
  std::uint64_t ball = 0;
  const auto send = [&](int pe) {
    std::memcpy(payload.data(), &ball, std::min(bytes, sizeof ball));
    if (own_word) {
      put_signal(payload, data, words[0], pe, ball, Update::Set);
    } else {
      put_signal(payload, data, pe, ball, Update::Set);
    }
  };
  const auto receive = [&] {
    if (own_word) {
      read_all(wait_until(words[0], data, Cmp::Ge, ball).span());
    } else {
      read_all(wait_until(data, Cmp::Ge, ball).span());
    }
  };
  const auto ours = [&] {
    team.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < kSmallRepeats; ++i) {
      ++ball;
      if (team.pe() == 0) {
        send(1);
        receive();
      } else if (team.pe() == 1) {
        receive();
        send(0);
      }
    }
    return seconds_since(start) / kSmallRepeats / 2;
  };
  PrimitiveResult result =
      compare(team, rounds, ours, [](double line_ns) { return line_ns * 1e-9; });
  result.compared_with = "beside the line transfer";
  return result;
}

/// A put of 8 bytes to my own instance, beside the store that it is: what the library adds.
PrimitiveResult put_to_myself(Team& team, int rounds) {
  constexpr int kRepeats = 100 * kSmallRepeats;
  auto data = make_tensor<std::uint64_t>(team, {1});
  std::array<std::uint64_t, 1> value{};
  const auto timed = [&](auto&& once) {
    const auto start = Clock::now();
    for (int i = 0; i < kRepeats; ++i) {
      value[0] = static_cast<std::uint64_t>(i);
      once();
    }
    return seconds_since(start) / kRepeats;
  };
  const auto ours = [&] { return timed([&] { put(value, data, team.pe()); }); };
  const auto store = [&](double) {
    return timed([&] { *static_cast<volatile std::uint64_t*>(data.local().data()) = value[0]; });
  };
  PrimitiveResult result = compare(team, rounds, ours, store);
  result.compared_with = "beside a bare store";
  return result;
}

/// Times of copies between PE 0 and PE 1, who touches its side between copies, as a user would: the
/// destination of a put was last read by its owner, the source of a get last written by it.
class CopyTimer {
 public:
  CopyTimer(Team& team, std::span<std::uint8_t> local, bool is_put)
      : team_(team),
        local_(local),
        is_put_(is_put),
        repeats_(static_cast<int>(
            std::clamp<std::size_t>((std::size_t{4} << 20) / local.size(), 2, 200))) {}

  /// Seconds of one `copy` on PE 0; 0 on the others.
  template <class Copy>
  double operator()(Copy&& copy) {
    double sum = 0;
    for (int i = 0; i < repeats_; ++i) {
      touch();
      team_.barrier();
      if (team_.pe() == 0) {
        const auto start = Clock::now();
        copy();
        sum += seconds_since(start);
      }
      team_.barrier();
    }
    return sum / repeats_;
  }

 private:
  void touch() {
    if (team_.pe() != 1) return;
    if (is_put_) {
      volatile std::uint64_t sink = std::accumulate(local_.begin(), local_.end(), std::uint64_t{0});
      static_cast<void>(sink);
    } else {
      std::ranges::fill(local_, std::uint8_t{3});
    }
  }

  Team& team_;
  std::span<std::uint8_t> local_;
  bool is_put_;
  int repeats_;
};

/// Beside the faster of two copies by hand: memcpy, and stores past the cache.
PrimitiveResult copies(Team& team, Primitive what, std::size_t bytes, int rounds) {
  constexpr std::size_t kTile = 16 << 10;
  const bool tiled = what == Primitive::PutTiled;
  const bool is_put = what != Primitive::Get;
  auto data = make_tensor<std::uint8_t>(team, {bytes}, tiled ? tile(kTile) : Tile{},
                                        {.signals = tiled ? signals::one : signals::none});
  std::vector<std::uint8_t> mine(bytes, static_cast<std::uint8_t>(team.pe()));
  std::uint64_t round = 0;
  CopyTimer timed(team, data.local(), is_put);
  const auto ours = [&] {
    return timed([&] {
      if (tiled) {
        put_signal(mine, data, 1, ++round, Update::Set);
      } else if (is_put) {
        put(mine, data, 1);
      } else {
        get(data, 1, mine);
      }
    });
  };
  const auto by_hand = [&](double) {
    std::uint8_t* theirs = data.unsafe_peer(1);
    std::uint8_t* to = is_put ? theirs : mine.data();
    const std::uint8_t* from = is_put ? mine.data() : theirs;
    const double cached = timed([&] { std::memcpy(to, from, bytes); });
    const double streamed = timed([&] { stream_copy(to, from, bytes); });
    return std::min(cached, streamed);
  };
  PrimitiveResult result = compare(team, rounds, ours, by_hand);
  result.compared_with = "beside the best copy by hand in the same state";
  return result;
}

}  // namespace

std::vector<NamedPrimitive> all_primitives(const Team& team) {
  std::vector<NamedPrimitive> all = {{"barrier", Primitive::Barrier, 0},
                                     {"put_self/bytes:8", Primitive::PutSelf, 8}};
  if (team.size() < 2) return all;
  all.push_back({"wait", Primitive::Wait, 0});
  all.push_back({"decision/problems:1", Primitive::Decision, 0});
  all.push_back({"decision/problems:8", Primitive::DecisionInTurn, 0});
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{512}, std::size_t{4096}}) {
    const std::string size = "bytes:" + std::to_string(bytes);
    all.push_back({"put_signal/" + size, Primitive::PutSignal, bytes});
    all.push_back({"put_signal/own_word/" + size, Primitive::PutSignalOwnWord, bytes});
  }
  for (std::size_t bytes = 4096; bytes <= std::size_t{64} << 20; bytes *= 4) {
    all.push_back({"put/bytes:" + std::to_string(bytes), Primitive::Put, bytes});
    all.push_back({"get/bytes:" + std::to_string(bytes), Primitive::Get, bytes});
    if (bytes < (64 << 10)) continue;
    all.push_back({"put_tiled/bytes:" + std::to_string(bytes), Primitive::PutTiled, bytes});
  }
  return all;
}

PrimitiveResult measure(Team& team, Primitive what, std::size_t bytes, int rounds) {
  switch (what) {
    case Primitive::Barrier:
      return barrier(team, rounds);
    case Primitive::Decision:
      return decision(team, 1, rounds);
    case Primitive::DecisionInTurn:
      return decision(team, 8, rounds);
    case Primitive::PutSelf:
      return put_to_myself(team, rounds);
    case Primitive::Wait:
      return waiting(team, rounds);
    case Primitive::PutSignal:
      return put_signal_one_way(team, bytes, false, rounds);
    case Primitive::PutSignalOwnWord:
      return put_signal_one_way(team, bytes, true, rounds);
    case Primitive::Put:
    case Primitive::PutTiled:
    case Primitive::Get:
      break;
  }
  return copies(team, what, bytes, rounds);
}

}  // namespace tutti::bench
