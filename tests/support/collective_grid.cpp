// SPDX-License-Identifier: Apache-2.0
#include "support/collective_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "support/collective_data.hpp"
#include "support/collective_shape.hpp"
#include "support/seen_algorithms.hpp"
#include "tutti/tuning.hpp"

namespace tutti::tests {
namespace {

Problem problem_of(const Cell& cell, Team& team, bool reachable) {
  Problem problem;
  problem.collective = cell.algorithm->collective;
  problem.dtype = cell.dtype;
  problem.op = cell.op;
  // In place a ring shift goes through staging, wherever its buffers lie.
  const bool staged = problem.collective == Collective::RingShift && cell.in_place;
  problem.memory = staged ? Memory::Private : cell.memory;
  problem.contract = cell.contract;
  problem.reachable = reachable;
  problem.shared_address_space = team.shared_address_space();
  problem.pes = team.size();
  problem.count = cell.algorithm->collective == Collective::Alltoallv ? 0 : cell.count;
  return problem;
}

/// Where one call's input and output lie: apart, or in place by the rule of the collective.
template <class T>
struct Placed {
  const Guarded<T>* in_home;
  const Guarded<T>* out_home;
  T* in;
  T* out;
  bool apart;  ///< the call may not change the input

  static Placed of(const Cell& cell, Team& team, int root, const Guarded<T>& in,
                   const Guarded<T>& out) {
    const Placed apart{&in, &out, in.data(), out.data(), true};
    const Placed in_out{&out, &out, out.data(), out.data(), false};
    const Collective collective = cell.algorithm->collective;
    const std::size_t block = has_counts(collective)
                                  ? even_begin(cell, team.size(), team.pe())
                                  : static_cast<std::size_t>(team.pe()) * cell.count;
    const Placed in_inside{&out, &out, out.data() + block, out.data(), false};
    const Placed out_inside{&in, &in, in.data(), in.data() + block, false};
    if (collective == Collective::Broadcast) return in_out;
    if (!cell.in_place || collective == Collective::Alltoallv) return apart;
    switch (collective) {
      case Collective::Allgather:
      case Collective::Allgatherv:
        return in_inside;
      case Collective::ReduceScatter:
      case Collective::ReduceScatterv:
        return out_inside;
      case Collective::Gather:
      case Collective::Gatherv:
        return team.pe() == root ? in_inside : apart;
      case Collective::Scatter:
      case Collective::Scatterv:
        return team.pe() == root ? out_inside : apart;
      default:
        return in_out;
    }
  }
};

/// `algorithm`: empty where the choice is open.
template <class T>
void issue(Team& team, const Cell& cell, const Placed<T>& at, int root,
           const std::string& algorithm) {
  const Call call{.algorithm = algorithm, .contract = cell.contract};
  const int pes = team.size();
  detail::Buffers buffers = detail::buffers_of<T>(at.in, in_count(cell, pes, team.pe()), at.out,
                                                  out_count(cell, pes, team.pe()));
  std::vector<std::size_t> counts;
  for (int pe = 0; pe < pes && has_counts(cell.algorithm->collective); ++pe) {
    const bool all = cell.algorithm->collective == Collective::Alltoallv;
    counts.push_back(all ? cell.count : even_count(cell, pes, pe));
  }
  buffers.counts = counts;
  buffers.out_counts = counts;
  if (cell.memory == Memory::Symmetric) {
    buffers.in_block = &at.in_home->tensor()->block();
    buffers.out_block = &at.out_home->tensor()->block();
  }
  switch (cell.algorithm->collective) {
    case Collective::Allreduce:
      return detail::allreduce(team, buffers, cell.op, call);
    case Collective::Allgather:
      return detail::allgather(team, buffers, call);
    case Collective::ReduceScatter:
      return detail::reduce_scatter(team, buffers, cell.op, call);
    case Collective::Broadcast:
      return detail::broadcast(team, buffers, root, call);
    case Collective::Reduce:
      return detail::reduce(team, buffers, cell.op, root, call);
    case Collective::Gather:
      return detail::gather(team, buffers, root, call);
    case Collective::Scatter:
      return detail::scatter(team, buffers, root, call);
    case Collective::Alltoall:
      return detail::alltoall(team, buffers, call);
    case Collective::Allgatherv:
      return detail::allgatherv(team, buffers, call);
    case Collective::ReduceScatterv:
      return detail::reduce_scatterv(team, buffers, cell.op, call);
    case Collective::Alltoallv:
      return detail::alltoallv(team, buffers, call);
    case Collective::Gatherv:
      return detail::gatherv(team, buffers, root, call);
    case Collective::Scatterv:
      return detail::scatterv(team, buffers, root, call);
    case Collective::RingShift:
      return detail::ring_shift(team, buffers, shift_of(root, team.size()), call);
  }
}

/// Compares `count` elements with what `expected(i)` says they are; reports the first wrong one.
template <class T, class Expected>
bool compare(const Cell& cell, Team& team, std::size_t call, const char* what, const T* actual,
             std::size_t count, Expected&& expected) {
  for (std::size_t i = 0; i < count; ++i) {
    const T right = expected(i);
    if (std::memcmp(&actual[i], &right, sizeof(T)) == 0) continue;
    ADD_FAILURE() << to_string(cell) << ": PE " << team.pe() << " of " << team.size() << ", call "
                  << call << ": " << what << ' ' << i << " is " << number_of(actual[i])
                  << ", expected " << number_of(right);
    return false;
  }
  return true;
}

void check_traffic(Team& team, const Cell& cell, const Ran& ran, int root, bool reachable) {
  // A descriptor says what a call costs whose root is PE 0, or that shifts to another PE.
  if (cell.algorithm->collective == Collective::Alltoallv && cell.count != 0) return;  // not known
  if (team.size() == 1 || (has_root(cell.algorithm->collective) && root != 0)) return;
  if (cell.algorithm->collective == Collective::RingShift && root == 0) return;
  const Traffic said =
      ran.algorithm->traffic(problem_of(cell, team, reachable), ran.params, team.pe());
  const Traffic done = last_call(team).traffic;
  EXPECT_EQ(said, done) << to_string(cell) << ": PE " << team.pe() << " of " << team.size()
                        << ": words " << said.words << " said, " << done.words << " done; stored "
                        << said.bytes_stored << ", " << done.bytes_stored << "; loaded "
                        << said.bytes_loaded << ", " << done.bytes_loaded << "; folded "
                        << said.bytes_folded << ", " << done.bytes_folded;
}

struct ToRun {
  Ran ran;
  int line_ns = 0;  ///< where that decides
};

/// What a call of the cell has to run: what it insists on, or what `explain` says.
ToRun to_run(Team& team, const Cell& cell, bool reachable, bool insists) {
  if (insists) {
    const Algorithm* const extra[] = {cell.algorithm};
    const Forced forced =
        parse_choice(cell.algorithm->collective, cell.algorithm->name + cell.parameters, "test",
                     is_seen(cell.algorithm) ? extra : std::span<const Algorithm* const>());
    return {{forced.algorithm, forced.params}};
  }
  const Explanation said = explain(team, problem_of(cell, team, reachable));
  return {{said.algorithm, said.params}, said.problem.line_ns};
}

/// The record of the last call names what ran, and where bodies say that they run, they did.
void check_record(Team& team, const Cell& cell, const Ran& expected) {
  const std::string record = last_call(team).algorithm;
  if (team.size() == 1) {
    EXPECT_EQ(record, "") << "one PE copies";
    return;
  }
  EXPECT_EQ(record, describe(*expected.algorithm, expected.params)) << to_string(cell);
  std::vector<Ran> bodies;
  if (is_seen(expected.algorithm)) bodies.push_back(expected);
  EXPECT_EQ(bodies_entered(), bodies) << to_string(cell) << ": other bodies than " << record;
}

/// One call on fresh data, with everything around it checked.
template <class T>
bool check_call(Team& team, const Cell& cell, std::size_t call, bool reachable,
                const Guarded<T>& in, const Guarded<T>& out, bool insists) {
  const int pes = team.size();
  const int root = static_cast<int>(call % static_cast<std::size_t>(pes));
  const std::size_t ins = in_count(cell, pes, team.pe());
  const std::size_t outs = out_count(cell, pes, team.pe());
  const Placed<T> at = Placed<T>::of(cell, team, root, in, out);
  const auto sent = [&](std::size_t i) {
    return element_of<T>(value_of(team.pe(), i, call, cell.op));
  };
  const auto untouched = [](std::size_t) { return element_of<T>(77); };
  for (std::size_t i = 0; i < outs; ++i) at.out[i] = untouched(i);
  for (std::size_t i = 0; i < ins; ++i) at.in[i] = sent(i);
  if (static_cast<std::size_t>(team.pe()) == call % 5) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  ToRun expected = to_run(team, cell, reachable, insists);
  bodies_entered().clear();
  issue<T>(team, cell, at, root, insists ? cell.algorithm->name + cell.parameters : "");
  const ToRun now = to_run(team, cell, reachable, insists);
  if (now.line_ns != expected.line_ns) expected = now;  // the first call of another regime
  if (at.apart && !compare<T>(cell, team, call, "input", at.in, ins, sent)) {
    return false;
  }
  if (!has_output(cell, team, root)) {
    const bool kept =
        at.apart
            ? compare<T>(cell, team, call, "an output that is not mine", at.out, outs, untouched)
            : compare<T>(cell, team, call, "what was in place", at.in, ins, sent);
    if (!kept) return false;
  } else if (!compare<T>(cell, team, call, "element", at.out, outs, [&](std::size_t i) {
               return element_of<T>(expected_out(cell, team, i, call, root));
             })) {
    return false;
  }
  check_record(team, cell, expected.ran);
  check_traffic(team, cell, expected.ran, root, reachable);
  return true;
}

template <class T>
void check_typed(Team& team, const Cell& cell, std::size_t& call, bool reachable) {
  const bool symmetric = cell.memory == Memory::Symmetric;
  // PE 0 has the longest block, and symmetric tensors are equal on all.
  const Guarded<T> in(team, in_count(cell, team.size(), 0), cell.misalign, symmetric);
  const Guarded<T> out(team, out_count(cell, team.size(), 0), cell.misalign * 3, symmetric);
  for (const bool insists : {true, true, true, false}) {
    if (!check_call<T>(team, cell, ++call, reachable, in, out, insists)) return;
  }
  if (!in.intact() || !out.intact()) {
    ADD_FAILURE() << to_string(cell) << ": PE " << team.pe() << " of " << team.size()
                  << " wrote beside its buffers";
  }
}

std::vector<std::string> parameter_choices(const Algorithm& algorithm) {
  std::vector<std::string> choices = {""};
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(algorithm.parameters,
                               [&](const Parameter& p) { return p.name == name; });
  };
  if (has("chunk_bytes")) choices.emplace_back(":ring_bytes=16K,chunk_bytes=1K");
  if (has("lag")) choices.emplace_back(":ring_bytes=32K,chunk_bytes=2K,lag=3");
  if (has("store")) choices.emplace_back(":ring_bytes=64K,store=stream");
  if (has("results")) choices.emplace_back(":ring_bytes=32K,results=stream");
  if (has("results")) choices.emplace_back(":ring_bytes=64K,store=stream,results=stream");
  return choices;
}

struct Kind {
  DType dtype;
  Op op;
};
constexpr Kind kKinds[] = {{DType::F32, Op::Sum}, {DType::BF16, Op::Sum}, {DType::I64, Op::Max},
                           {DType::U8, Op::Min},  {DType::F64, Op::Sum},  {DType::I32, Op::Avg},
                           {DType::F16, Op::Sum}, {DType::I16, Op::Prod}, {DType::U32, Op::Xor}};

}  // namespace

std::string to_string(const Cell& cell) {
  std::string text = std::string(name_of(cell.algorithm->collective)) + '/' +
                     std::string(name_of(cell.dtype)) + '/' + std::string(name_of(cell.op)) + '/' +
                     (cell.in_place ? "inplace" : std::string(name_of(cell.memory))) + '/' +
                     cell.algorithm->name + cell.parameters +
                     "/count:" + std::to_string(cell.count);
  return cell.misalign == 0 ? text : text + "/misaligned";
}

std::vector<Cell> cells_of(const Algorithm& algorithm, int pes, bool reachable) {
  const bool full = std::getenv("TUTTI_TEST_FULL") != nullptr;
  const auto p = static_cast<std::size_t>(pes);
  const std::vector<std::size_t> counts = {0, 1, p - 1, p, p + 1, 255, 256, 257, 1029, 20011};
  const std::size_t longest = full || reachable ? 1 << 20 : pes > 4 ? 1029 : 5003;
  std::vector<Cell> cells;
  // Every pair of choices occurs; all of them only in the full grid. Sanitizers take several times
  // as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t kOneIn = 13;
#else
  constexpr std::size_t kOneIn = 7;
#endif
  std::size_t n = 0;
  for (std::size_t count : counts) {
    count = std::min(count, longest);
    for (const std::string& parameters : parameter_choices(algorithm)) {
      for (const Kind& kind : kKinds) {
        for (const bool symmetric : {false, true}) {
          for (const bool in_place : {false, true}) {
            if (!full && n++ % kOneIn != 0) continue;
            cells.push_back({&algorithm, count, kind.dtype, kind.op,
                             symmetric ? Memory::Symmetric : Memory::Private, in_place,
                             Contract::Consistent, parameters, n % 3});
          }
        }
      }
    }
  }
  return cells;
}

bool check_cell(Team& team, const Cell& cell, bool reachable, std::size_t& call) {
  if (cell.algorithm->supports(problem_of(cell, team, reachable)) != nullptr) return false;
  switch (cell.dtype) {
    case DType::F32:
      check_typed<float>(team, cell, call, reachable);
      break;
    case DType::F64:
      check_typed<double>(team, cell, call, reachable);
      break;
    case DType::F16:
      check_typed<f16>(team, cell, call, reachable);
      break;
    case DType::BF16:
      check_typed<bf16>(team, cell, call, reachable);
      break;
    case DType::I16:
      check_typed<std::int16_t>(team, cell, call, reachable);
      break;
    case DType::I32:
      check_typed<std::int32_t>(team, cell, call, reachable);
      break;
    case DType::I64:
      check_typed<std::int64_t>(team, cell, call, reachable);
      break;
    case DType::U32:
      check_typed<std::uint32_t>(team, cell, call, reachable);
      break;
    default:
      check_typed<std::uint8_t>(team, cell, call, reachable);
      break;
  }
  return true;
}

std::size_t check_algorithm(Team& team, const Algorithm& algorithm, bool reachable) {
  std::size_t call = 0;
  std::size_t ran = 0;
  for (const Cell& cell : cells_of(algorithm, team.size(), reachable)) {
    ran += check_cell(team, cell, reachable, call) ? 1 : 0;
    if (::testing::Test::HasFailure()) break;
  }
  return ran;
}

}  // namespace tutti::tests
