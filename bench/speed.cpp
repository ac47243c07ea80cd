// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "bench/engine.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kBytes = std::size_t{256} << 10;
constexpr int kRounds = 41;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of the fastest round: whoever else runs makes others slower.
double gbps(std::size_t bytes, const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : static_cast<double>(bytes) / std::ranges::min(seconds) / 1e9;
}

double copy_gbps() {
  std::vector<std::byte> from(kBytes, std::byte{1});
  std::vector<std::byte> to(kBytes);
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) {
    from[static_cast<std::size_t>(round)] = std::byte{2};
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), kBytes);
    seconds.push_back(seconds_since(start));
    volatile std::byte sink = to[kBytes - 1];
    static_cast<void>(sink);
  }
  return gbps(kBytes, seconds);
}

/// By PE 0 alone, so that nobody reads from a core that reads.
double cross_gbps(Team& team) {
  auto shared = make_tensor<std::uint64_t>(team, {kBytes / 8});
  std::vector<std::byte> to(kBytes, std::byte{1});
  std::vector<double> seconds;
  for (int round = 0; round < kRounds && team.size() > 1; ++round) {
    std::ranges::fill(shared.local(), static_cast<std::uint64_t>(round));  // dirty in my cache
    team.barrier();
    const std::uint64_t* theirs = shared.unsafe_peer((team.pe() + 1) % team.size());
    if (team.pe() == 0 && theirs != nullptr) {
      const auto start = Clock::now();
      std::memcpy(to.data(), theirs, kBytes);
      seconds.push_back(seconds_since(start));
      volatile std::byte sink = to[kBytes - 1];
      static_cast<void>(sink);
    }
    team.barrier();
  }
  return gbps(kBytes, seconds);
}

}  // namespace

MachineSpeed measure_speed(Team& team) {
  return {.copy_gbps = first(team, copy_gbps()),
          .cross_gbps = first(team, cross_gbps(team)),
          .fold_gbps = first(team, measure_fold_gbps())};
}

double bus_factor(Collective collective, int pes) {
  const double p = pes;
  switch (collective) {
    case Collective::Allreduce:
      return 2 * (p - 1) / p;
    case Collective::Allgather:
    case Collective::ReduceScatter:
    case Collective::Gather:
    case Collective::Scatter:
    case Collective::Alltoall:
    case Collective::Allgatherv:
    case Collective::ReduceScatterv:
    case Collective::Alltoallv:
    case Collective::Gatherv:
    case Collective::Scatterv:
      return (p - 1) / p;
    case Collective::RingShift:
    case Collective::Broadcast:
    case Collective::Reduce:
      break;
  }
  return 1;
}

double bound_seconds(const Cell& cell, const Team& team, const MachineSpeed& speed,
                     double line_ns) {
  // Each PE writes its input and reads its output (local); whatever the algorithm, the bytes of
  // the result that come from others have to cross (nccl-tests' busbw factors).
  const std::size_t whole = whole_bytes(cell, team.size());
  const auto bytes = static_cast<double>(whole);
  const double crossing = bytes * bus_factor(cell.collective, team.size());
  // Of uneven blocks the last PE has the largest.
  const Shape shape = shape_of(cell.collective);
  const std::size_t elements = whole / size_of(cell.dtype);
  const Blocks blocks(elements, team.size(), has_counts(cell.collective));
  const int last = team.size() - 1;
  const double local = static_cast<double>(
      (in_elements(shape, blocks, last, elements) + out_elements(shape, blocks, last, elements)) *
      size_of(cell.dtype));
  const double by_copy = speed.copy_gbps > 0 ? local / speed.copy_gbps / 1e9 : 0;
  const double by_cross = speed.cross_gbps > 0 ? crossing / speed.cross_gbps / 1e9 : 0;
  return std::max({by_copy, by_cross, team.size() > 1 ? line_ns * 1e-9 : 0});
}

}  // namespace tutti::bench
