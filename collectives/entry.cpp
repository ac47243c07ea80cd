// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>

#include "collectives/door.hpp"
#include "collectives/schedule/partition.hpp"
#include "collectives/team_tuner.hpp"
#include "tutti/collectives.hpp"

namespace tutti {
namespace detail {
namespace {

// What each collective asks of its buffers: the reason to refuse them, if any.

struct Span {
  const char* name;
  const std::byte* begin;
  std::size_t bytes;
};

Refusal overlap(const Span& in, const Span& out, const std::byte* in_place_at) {
  if (in.bytes == 0 || out.bytes == 0 || in.begin == in_place_at) return std::nullopt;
  const auto a = reinterpret_cast<std::uintptr_t>(in.begin);
  const auto b = reinterpret_cast<std::uintptr_t>(out.begin);
  if (a + in.bytes <= b || b + out.bytes <= a) return std::nullopt;
  return fmt::format("{} [{}, {}) overlaps {} [{}, {}) otherwise than in place", in.name,
                     fmt::ptr(in.begin), fmt::ptr(in.begin + in.bytes), out.name,
                     fmt::ptr(out.begin), fmt::ptr(out.begin + out.bytes));
}

Refusal check_elements(std::size_t in, std::size_t out, std::size_t times_in,
                       std::size_t times_out) {
  // in = count * times_in, out = count * times_out; one of the two is 1
  const std::size_t count = times_in == 1 ? in : out;
  if (in == count * times_in && out == count * times_out) return std::nullopt;
  if (times_in == times_out) {
    return fmt::format("in has {} elements and out has {}; both must have as many", in, out);
  }
  return fmt::format("in has {} elements and out has {}; with {} PEs {} must have {}", in, out,
                     times_in * times_out, times_in == 1 ? "out" : "in",
                     count * times_in * times_out);
}

Refusal check_root(int root, std::size_t pes) {
  const auto last = static_cast<int>(pes) - 1;
  if (root >= 0 && root <= last) return std::nullopt;
  return fmt::format("root {}; allowed are 0 to {}", root, last);
}

/// Counts of blocks that lie one after the other: all of them, and those before PE `pe`'s.
struct Counted {
  Counted(std::span<const std::size_t> counts, int pe) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (i < static_cast<std::size_t>(pe)) before += counts[i];
      if (i == static_cast<std::size_t>(pe)) mine = counts[i];
      total += counts[i];
    }
  }
  std::size_t total = 0;
  std::size_t before = 0;
  std::size_t mine = 0;
};

Refusal check_counts(const char* name, std::span<const std::size_t> counts, const char* buffer,
                     std::size_t elements, std::size_t pes) {
  if (counts.size() != pes) {
    return fmt::format("{} has {} numbers; there are {} PEs", name, counts.size(), pes);
  }
  const std::size_t total = Counted(counts, 0).total;
  if (total == elements) return std::nullopt;
  return fmt::format("{} has {} elements; {} add up to {}", buffer, elements, name, total);
}

Refusal check_own(const char* buffer, std::size_t elements, std::size_t count, int pe) {
  if (elements == count) return std::nullopt;
  return fmt::format("{} has {} elements; counts[{}] is {}", buffer, elements, pe, count);
}

Span in_span(const Buffers& b) { return {"in", b.in, b.in_elements * element_bytes(b)}; }
Span out_span(const Buffers& b) { return {"out", b.out, b.out_elements * element_bytes(b)}; }

}  // namespace

void allreduce(Team& team, const Buffers& buffers, Op op, const Call& call) {
  Door door(team, Collective::Allreduce, buffers, op, call);
  Refusal refusal = check_elements(buffers.in_elements, buffers.out_elements, 1, 1);
  if (!refusal) refusal = overlap(in_span(buffers), out_span(buffers), buffers.out);
  door.enter(buffers.out_elements, refusal, buffers.in, -1);
}

void allgather(Team& team, const Buffers& buffers, const Call& call) {
  Door door(team, Collective::Allgather, buffers, Op::Sum, call);
  const std::size_t block = buffers.in_elements * door.element();
  Refusal refusal = check_elements(buffers.in_elements, buffers.out_elements, 1, door.pes());
  if (!refusal) {
    refusal = overlap(in_span(buffers), out_span(buffers),
                      buffers.out + static_cast<std::size_t>(door.pe()) * block);
  }
  door.enter(buffers.in_elements, refusal, buffers.in, -1);
}

void reduce_scatter(Team& team, const Buffers& buffers, Op op, const Call& call) {
  Door door(team, Collective::ReduceScatter, buffers, op, call);
  const std::size_t block = buffers.out_elements * door.element();
  const std::byte* own = buffers.in + static_cast<std::size_t>(door.pe()) * block;
  Refusal refusal = check_elements(buffers.in_elements, buffers.out_elements, door.pes(), 1);
  if (!refusal) refusal = overlap(out_span(buffers), in_span(buffers), own);
  door.enter(buffers.out_elements, refusal, own, -1);
}

void broadcast(Team& team, const Buffers& buffers, int root, const Call& call) {
  Door door(team, Collective::Broadcast, buffers, Op::Sum, call);
  door.enter(buffers.out_elements, check_root(root, door.pes()), buffers.in, root);
}

void reduce(Team& team, const Buffers& buffers, Op op, int root, const Call& call) {
  Door door(team, Collective::Reduce, buffers, op, call);
  Refusal refusal = check_root(root, door.pes());
  if (!refusal && door.pe() == root) {
    refusal = check_elements(buffers.in_elements, buffers.out_elements, 1, 1);
    if (!refusal) refusal = overlap(in_span(buffers), out_span(buffers), buffers.out);
  }
  door.enter(buffers.in_elements, refusal, buffers.in, root);
}

void gather(Team& team, const Buffers& buffers, int root, const Call& call) {
  Door door(team, Collective::Gather, buffers, Op::Sum, call);
  Refusal refusal = check_root(root, door.pes());
  if (!refusal && door.pe() == root) {
    const std::size_t block = buffers.in_elements * door.element();
    refusal = check_elements(buffers.in_elements, buffers.out_elements, 1, door.pes());
    if (!refusal) {
      refusal = overlap(in_span(buffers), out_span(buffers),
                        buffers.out + static_cast<std::size_t>(root) * block);
    }
  }
  door.enter(buffers.in_elements, refusal, buffers.in, root);
}

void scatter(Team& team, const Buffers& buffers, int root, const Call& call) {
  Door door(team, Collective::Scatter, buffers, Op::Sum, call);
  Refusal refusal = check_root(root, door.pes());
  const std::byte* own = nullptr;
  if (!refusal && door.pe() == root) {
    const std::size_t block = buffers.out_elements * door.element();
    own = buffers.in + static_cast<std::size_t>(root) * block;
    refusal = check_elements(buffers.in_elements, buffers.out_elements, door.pes(), 1);
    if (!refusal) refusal = overlap(out_span(buffers), in_span(buffers), own);
  }
  door.enter(buffers.out_elements, refusal, own, root);
}

void alltoall(Team& team, const Buffers& buffers, const Call& call) {
  Door door(team, Collective::Alltoall, buffers, Op::Sum, call);
  Refusal refusal = check_elements(buffers.in_elements, buffers.out_elements, 1, 1);
  if (!refusal && buffers.in_elements % door.pes() != 0) {
    refusal = fmt::format("in has {} elements; with {} PEs it must be a multiple of that",
                          buffers.in_elements, door.pes());
  }
  if (!refusal) refusal = overlap(in_span(buffers), out_span(buffers), buffers.out);
  door.enter(buffers.in_elements / door.pes(), refusal, buffers.in, -1);
}

void allgatherv(Team& team, const Buffers& buffers, const Call& call) {
  Door door(team, Collective::Allgatherv, buffers, Op::Sum, call);
  const Counted all(buffers.counts, door.pe());
  Refusal refusal = check_counts("counts", buffers.counts, "out", buffers.out_elements, door.pes());
  if (!refusal) refusal = check_own("in", buffers.in_elements, all.mine, door.pe());
  if (!refusal) {
    refusal =
        overlap(in_span(buffers), out_span(buffers), buffers.out + all.before * door.element());
  }
  door.enter(all.total, refusal, buffers.in, -1);
}

void reduce_scatterv(Team& team, const Buffers& buffers, Op op, const Call& call) {
  Door door(team, Collective::ReduceScatterv, buffers, op, call);
  const Counted all(buffers.counts, door.pe());
  const std::byte* own = buffers.in + all.before * door.element();
  Refusal refusal = check_counts("counts", buffers.counts, "in", buffers.in_elements, door.pes());
  if (!refusal) refusal = check_own("out", buffers.out_elements, all.mine, door.pe());
  if (!refusal) refusal = overlap(out_span(buffers), in_span(buffers), own);
  door.enter(all.total, refusal, own, -1);
}

void alltoallv(Team& team, const Buffers& buffers, const Call& call) {
  Door door(team, Collective::Alltoallv, buffers, Op::Sum, call);
  Refusal refusal =
      check_counts("send_counts", buffers.counts, "in", buffers.in_elements, door.pes());
  if (!refusal) {
    refusal =
        check_counts("receive_counts", buffers.out_counts, "out", buffers.out_elements, door.pes());
  }
  if (!refusal && buffers.counts[static_cast<std::size_t>(door.pe())] !=
                      buffers.out_counts[static_cast<std::size_t>(door.pe())]) {
    refusal = "I send myself another number of elements than I receive from myself";
  }
  if (!refusal) refusal = overlap(in_span(buffers), out_span(buffers), nullptr);
  door.enter(0, refusal, buffers.in, -1);
}

void gatherv(Team& team, const Buffers& buffers, int root, const Call& call) {
  Door door(team, Collective::Gatherv, buffers, Op::Sum, call);
  const Counted all(buffers.counts, door.pe());
  const bool is_root = door.pe() == root;
  Refusal refusal = check_root(root, door.pes());
  if (!refusal) {
    refusal = check_counts("counts", buffers.counts, "out",
                           is_root ? buffers.out_elements : all.total, door.pes());
  }
  if (!refusal) refusal = check_own("in", buffers.in_elements, all.mine, door.pe());
  if (!refusal && is_root) {
    refusal =
        overlap(in_span(buffers), out_span(buffers), buffers.out + all.before * door.element());
  }
  door.enter(all.total, refusal, buffers.in, root);
}

void scatterv(Team& team, const Buffers& buffers, int root, const Call& call) {
  Door door(team, Collective::Scatterv, buffers, Op::Sum, call);
  const Counted all(buffers.counts, door.pe());
  const bool is_root = door.pe() == root;
  const std::byte* own = is_root ? buffers.in + all.before * door.element() : nullptr;
  Refusal refusal = check_root(root, door.pes());
  if (!refusal) {
    refusal = check_counts("counts", buffers.counts, "in",
                           is_root ? buffers.in_elements : all.total, door.pes());
  }
  if (!refusal) refusal = check_own("out", buffers.out_elements, all.mine, door.pe());
  if (!refusal && is_root) refusal = overlap(out_span(buffers), in_span(buffers), own);
  door.enter(all.total, refusal, own, root);
}

void ring_shift(Team& team, const Buffers& given, int shift, const Call& call) {
  Buffers buffers = given;
  if (buffers.in_block == buffers.out_block) buffers.in_block = nullptr;  // in place: no push
  Door door(team, Collective::RingShift, buffers, Op::Sum, call);
  const auto pes = static_cast<int>(door.pes());
  Refusal refusal = check_elements(buffers.in_elements, buffers.out_elements, 1, 1);
  if (!refusal) refusal = overlap(in_span(buffers), out_span(buffers), buffers.out);
  door.enter(buffers.out_elements, refusal, buffers.in, ring_place(0, shift % pes, pes));
}

}  // namespace detail

CallReport last_call(const Team& team, int lane) {
  const detail::LanePlans& kept = detail::TeamTuner::of(team.state()).lane(lane);
  if (kept.ran == nullptr) return {};
  return {describe(*kept.ran, kept.params), kept.traffic};
}

}  // namespace tutti
