// SPDX-License-Identifier: Apache-2.0
#include "bench/engine.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

#include "tutti/tuning.hpp"

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLargestDrift = 0.15;
constexpr std::uint64_t kVerifyCalls = 3;
constexpr int kFirstLook = 8;           ///< calls of a block before its length is looked at
constexpr int kFirstLookApart = 4;      ///< the same where they are timed one by one
constexpr double kLongestBlock = 0.05;  ///< seconds
constexpr double kLongestApart = 0.01;  ///< seconds, where calls are timed one by one
constexpr double kPatience = 2;         ///< times the seconds that were wanted

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What a PE sees of a contender while it is measured.
class Runner {
 public:
  Runner(Team& team, const Workload& work, const Contender& contender)
      : team_(team), work_(contender.own ? *contender.own : work), contender_(contender) {}

  std::size_t wrong() const { return wrong_; }

  /// Every element of a few calls, one PE late.
  void verify(std::uint64_t& call) {
    if (!contender_.collective) return;
    if (contender_.begins) contender_.begins();
    const bool order = contender_.keeps_order && work_.reveals_order();
    for (std::uint64_t i = 0; i < (order ? 2 : 1) * kVerifyCalls; ++i) {
      ++call;
      const Data data = i < kVerifyCalls ? Data::Exact : Data::Order;
      const Workload::Buffers at = work_.buffers(call);
      work_.produce(at, call, data);
      if (static_cast<std::uint64_t>(team_.pe()) == call % 3) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      contender_.run(work_, at);
      wrong_ += work_.wrong(at, call, 0, 1, data);
      team_.barrier();  // the next call may be another library's
    }
  }

  /// Seconds a cycle on this PE. A block that takes far longer than was foreseen, because others
  /// use the CPUs, ends early on all PEs together.
  double block(int repeats, std::uint64_t& call) {
    if (contender_.begins) contender_.begins();
    // What happens between decode steps is long and of no interest: each call is timed by itself,
    // from a common start. They are few, so that one interrupt would spoil their mean.
    const bool apart = work_.cell().cycle == Cycle::Decode;
    std::vector<double> calls;
    int done = 0;
    // The first call finds the lines of all buffers where the contender before has left them.
    double sink = apart ? 0 : one_call(++call);
    team_.barrier();
    const auto start = Clock::now();
    while (done < repeats) {
      ++done;
      ++call;
      if (apart) {
        work_.between(call);
        team_.barrier();
        const auto began = Clock::now();
        sink += one_call(call);
        calls.push_back(seconds_since(began));
      } else {
        sink += one_call(call);
        work_.between(call);
      }
      const bool look = done >= (apart ? kFirstLookApart : kFirstLook) &&
                        std::has_single_bit(static_cast<unsigned>(done));
      const double longest = apart ? kLongestApart : kLongestBlock;
      if (look && largest(team_, seconds_since(start)) > longest) break;
    }
    const double took = seconds_since(start);
    sink_ = sink;
    return apart ? estimate(std::move(calls)).median : took / done;
  }

 private:
  double one_call(std::uint64_t call) {
    const Workload::Buffers at = work_.buffers(call);
    work_.produce(at, call);
    contender_.run(work_, at);
    const double sum = work_.consume(at);
    // An element or two that nobody can foresee; cheap enough to be timed for all alike.
    if (contender_.collective && work_.out_elements() > 0) {
      wrong_ += work_.wrong(at, call, (call * 7919) % work_.out_elements(), work_.out_elements());
    }
    return sum;
  }

  Team& team_;
  const Workload& work_;
  const Contender& contender_;
  std::size_t wrong_ = 0;
  volatile double sink_ = 0;
};

/// f(i), with the contender named in the error.
template <class F>
auto blaming(std::size_t i, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw ContenderFailed(i, error);
  }
}

int repeats_for(Team& team, std::vector<Runner>& runners, double block_ms, std::uint64_t& call) {
  double slowest = 0;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    slowest = std::max(slowest, blaming(i, [&] {
                         runners[i].block(1, call);
                         return runners[i].block(2, call);
                       }));
  }
  slowest = largest(team, slowest);
  return std::clamp(static_cast<int>(block_ms / 1e3 / slowest), 1, 20000);
}

bool steady(double before, double after) {
  if (before <= 0 || after <= 0) return true;  // not measurable here: one PE, or oversubscribed
  return std::abs(before - after) <= kLargestDrift * std::max(before, after);
}

bool in_one_regime(double before, double after) {
  return regime_of(static_cast<int>(std::lround(before))) ==
         regime_of(static_cast<int>(std::lround(after)));
}

}  // namespace

double largest(Team& team, double value) {
  allreduce(team, std::span(&value, 1), Op::Max, {.algorithm = "one_line"});
  return value;
}

double smallest(Team& team, double value) {
  allreduce(team, std::span(&value, 1), Op::Min, {.algorithm = "one_line"});
  return value;
}

double first(Team& team, double value) {
  broadcast(team, std::span(&value, 1), 0);
  return value;
}

Contender touch_only() {
  return {"touch", [](const Workload&, const Workload::Buffers&) {}, false};
}

Contender tutti_call(Team&, std::string algorithm, Contract contract,
                     std::chrono::milliseconds deadline) {
  Contender contender;
  contender.name = algorithm.empty() ? "auto" : algorithm;
  contender.keeps_order = contract == Contract::Ordered;
  contender.run = [algorithm = std::move(algorithm), contract, deadline](
                      const Workload& work, const Workload::Buffers& at) {
    work.run(at, {.algorithm = algorithm, .contract = contract, .timeout = deadline});
  };
  return contender;
}

Measurement measure(Team& team, const Workload& work, const std::vector<Contender>& contenders,
                    const Effort& effort) {
  const std::size_t n = contenders.size();
  Measurement result;
  result.seconds.resize(n);
  result.wrong.resize(n);
  std::vector<Runner> runners;
  for (const Contender& contender : contenders) runners.emplace_back(team, work, contender);

  std::uint64_t call = 0;
  for (std::size_t i = 0; i < n; ++i) blaming(i, [&] { runners[i].verify(call); });
  const int repeats = repeats_for(team, runners, effort.block_ms, call);

  const auto start = Clock::now();
  std::mt19937 shuffle(static_cast<unsigned>(work.cell().bytes) + 1);  // alike on all PEs
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const int most = 2 * effort.rounds;  // dropped rounds are repeated, but not for ever
  for (int round = 0; round < most; ++round) {
    const double before = team.measure_line_ns();
    std::ranges::shuffle(order, shuffle);
    std::vector<double> seconds(n);
    for (const std::size_t i : order) {
      seconds[i] = blaming(i, [&] { return largest(team, runners[i].block(repeats, call)); });
    }
    const double after = team.measure_line_ns();
    const int kept = static_cast<int>(result.line_ns.size());
    // Where hardly anything is steady, an unsteady figure with its spread is better than none.
    // 1: the time is up; more than that: whatever was measured has to do.
    const double used = first(team, effort.seconds > 0 ? seconds_since(start) / effort.seconds : 0);
    const bool in_time = used < 1;
    const bool rare = most - round - 1 < effort.rounds - kept || (!in_time && kept < effort.least);
    const bool keep = steady(before, after) || (rare && in_one_regime(before, after));
    if (keep) {
      for (std::size_t i = 0; i < n; ++i) result.seconds[i].push_back(seconds[i]);
      result.line_ns.push_back(0.5 * (before + after));
    } else {
      ++result.dropped;
    }
    const int now = kept + (keep ? 1 : 0);
    const bool interrupted = effort.interrupted != nullptr && *effort.interrupted;
    if (now >= effort.rounds || (!in_time && now >= effort.least) || used > kPatience) break;
    if (first(team, interrupted ? 1 : 0) != 0) break;
  }
  for (std::size_t i = 0; i < n; ++i) {
    result.wrong[i] =
        static_cast<std::size_t>(largest(team, static_cast<double>(runners[i].wrong())));
  }
  return result;
}

}  // namespace tutti::bench
