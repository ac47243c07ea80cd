// SPDX-License-Identifier: Apache-2.0
#include "support/collective_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "tutti/tuning.hpp"

namespace tutti::tests {
namespace {

constexpr std::size_t kGuard = 64;  // bytes before and after each buffer
constexpr std::byte kGuardByte{0xA5};

/// Small integers: sums and products over eight PEs are exact in every type, in any order.
int value_of(int pe, std::size_t index, std::size_t call, Op op) {
  const auto mixed = index * 7 + static_cast<std::size_t>(pe) * 3 + call * 13;
  return op == Op::Prod ? 1 + static_cast<int>(mixed % 2) : static_cast<int>(mixed % 11);
}

int fold(Op op, int a, int b) {
  switch (op) {
    case Op::Prod:
      return a * b;
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::Sum:
    case Op::Avg:
      break;
  }
  return a + b;
}

int expected_of(int pes, std::size_t index, std::size_t call, Op op) {
  int result = value_of(0, index, call, op);
  for (int pe = 1; pe < pes; ++pe) result = fold(op, result, value_of(pe, index, call, op));
  return op == Op::Avg ? result / pes : result;
}

template <class T>
T element_of(int value) {
  if constexpr (std::is_same_v<T, f16>) {
    return to_f16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bf16>) {
    return to_bf16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// A buffer with guard bytes around it, in private memory or in a symmetric tensor.
template <class T>
class Guarded {
 public:
  Guarded(Team& team, std::size_t count, std::size_t misalign, bool symmetric) : count_(count) {
    const std::size_t bytes = 2 * kGuard + (count + misalign) * sizeof(T);
    if (symmetric) {
      tensor_.emplace(make_tensor<T>(team, {bytes / sizeof(T) + 1}));
      begin_ = reinterpret_cast<std::byte*>(tensor_->local().data());
      bytes_ = tensor_->local().size_bytes();
    } else {
      memory_.resize(bytes);
      begin_ = memory_.data();
      bytes_ = bytes;
    }
    data_ = reinterpret_cast<T*>(begin_ + kGuard) + misalign;
    std::fill_n(begin_, bytes_, kGuardByte);
  }
  T* data() const { return data_; }
  const ShmemTensor<T>* tensor() const { return tensor_ ? &*tensor_ : nullptr; }
  bool intact() const {
    const auto* first = reinterpret_cast<const std::byte*>(data_);
    const auto* last = reinterpret_cast<const std::byte*>(data_ + count_);
    const auto is_guard = [](std::byte b) { return b == kGuardByte; };
    return std::all_of(static_cast<const std::byte*>(begin_), first, is_guard) &&
           std::all_of(last, static_cast<const std::byte*>(begin_ + bytes_), is_guard);
  }

 private:
  std::size_t count_;
  std::optional<ShmemTensor<T>> tensor_;
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  T* data_ = nullptr;
};

std::size_t in_count(const Cell& cell, int pes) {
  return cell.algorithm->collective == Collective::ReduceScatter
             ? cell.count * static_cast<std::size_t>(pes)
             : cell.count;
}
std::size_t out_count(const Cell& cell, int pes) {
  return cell.algorithm->collective == Collective::Allgather
             ? cell.count * static_cast<std::size_t>(pes)
             : cell.count;
}

Problem problem_of(const Cell& cell, Team& team, bool reachable) {
  Problem problem;
  problem.collective = cell.algorithm->collective;
  problem.dtype = cell.dtype;
  problem.op = cell.op;
  problem.memory = cell.memory;
  problem.contract = cell.contract;
  problem.reachable = reachable;
  problem.pes = team.size();
  problem.count = cell.count;
  return problem;
}

template <class T>
void issue(Team& team, const Cell& cell, const T* in, T* out, int root, const Guarded<T>& in_buffer,
           const Guarded<T>& out_buffer) {
  const std::string name = cell.algorithm->name + cell.parameters;
  const Call call{.algorithm = name, .contract = cell.contract};
  const int pes = team.size();
  detail::Buffers buffers = detail::buffers_of(in, in_count(cell, pes), out, out_count(cell, pes));
  if (cell.memory == Memory::Symmetric) {
    buffers.in_block = &(cell.in_place ? out_buffer : in_buffer).tensor()->block();
    buffers.out_block = &out_buffer.tensor()->block();
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
  }
}

/// What element `i` of the output must be.
int expected_out(const Cell& cell, Team& team, std::size_t i, std::size_t call, int root) {
  const int pes = team.size();
  switch (cell.algorithm->collective) {
    case Collective::Allreduce:
      return expected_of(pes, i, call, cell.op);
    case Collective::Allgather:
      return value_of(static_cast<int>(i / std::max<std::size_t>(cell.count, 1)),
                      i % std::max<std::size_t>(cell.count, 1), call, cell.op);
    case Collective::ReduceScatter:
      return expected_of(pes, static_cast<std::size_t>(team.pe()) * cell.count + i, call, cell.op);
    case Collective::Broadcast:
      break;
  }
  return value_of(root, i, call, cell.op);
}

template <class T>
struct Placed {
  T* in;
  T* out;
};

/// Where input and output lie: apart, or in place by the rule of the collective.
template <class T>
Placed<T> place(const Cell& cell, Team& team, const Guarded<T>& in, const Guarded<T>& out) {
  const std::size_t block = static_cast<std::size_t>(team.pe()) * cell.count;
  const Collective collective = cell.algorithm->collective;
  if (collective == Collective::Broadcast) return {out.data(), out.data()};
  if (!cell.in_place) return {in.data(), out.data()};
  if (collective == Collective::Allgather) return {out.data() + block, out.data()};
  if (collective == Collective::ReduceScatter) return {in.data(), in.data() + block};
  return {out.data(), out.data()};
}

template <class T>
void check_typed(Team& team, const Cell& cell, std::size_t& call, bool reachable) {
  const int pes = team.size();
  const bool symmetric = cell.memory == Memory::Symmetric;
  Guarded<T> in(team, in_count(cell, pes), cell.misalign, symmetric);
  Guarded<T> out(team, out_count(cell, pes), cell.misalign * 3, symmetric);
  const Placed<T> at = place(cell, team, in, out);
  const bool separate = at.in != at.out && !cell.in_place;
  for (int repeat = 0; repeat < 3; ++repeat) {
    ++call;
    const int root = static_cast<int>(call % static_cast<std::size_t>(pes));
    for (std::size_t i = 0; i < in_count(cell, pes); ++i) {
      at.in[i] = element_of<T>(value_of(team.pe(), i, call, cell.op));
    }
    if (static_cast<std::size_t>(team.pe()) == call % 5) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    issue<T>(team, cell, at.in, at.out, root, in, out);
    for (std::size_t i = 0; i < out_count(cell, pes); ++i) {
      const T expected = element_of<T>(expected_out(cell, team, i, call, root));
      if (std::memcmp(&at.out[i], &expected, sizeof(T)) == 0) continue;
      ADD_FAILURE() << to_string(cell) << ": PE " << team.pe() << " of " << pes << ", call " << call
                    << ", element " << i << " is wrong";
      return;
    }
    for (std::size_t i = 0; separate && i < in_count(cell, pes); ++i) {
      const T sent = element_of<T>(value_of(team.pe(), i, call, cell.op));
      if (std::memcmp(&at.in[i], &sent, sizeof(T)) == 0) continue;
      ADD_FAILURE() << to_string(cell) << ": PE " << team.pe() << ": input " << i << " was changed";
      return;
    }
  }
  if (!in.intact() || !out.intact()) {
    ADD_FAILURE() << to_string(cell) << ": PE " << team.pe() << " of " << pes
                  << " wrote beside its buffers";
  }
  const int last_root = static_cast<int>(call % static_cast<std::size_t>(pes));
  if (pes == 1 || (cell.algorithm->collective == Collective::Broadcast && last_root != 0)) return;
  const Problem problem = problem_of(cell, team, reachable);
  const Params params =
      parse_choice(cell.algorithm->collective, cell.algorithm->name + cell.parameters, "test")
          .params;
  const Traffic said = cell.algorithm->traffic(problem, params, team.pe());
  const Traffic done = last_call(team).traffic;
  EXPECT_EQ(said, done) << to_string(cell) << ": PE " << team.pe() << " of " << pes << ": words "
                        << said.words << " said, " << done.words << " done; stored "
                        << said.bytes_stored << ", " << done.bytes_stored << "; loaded "
                        << said.bytes_loaded << ", " << done.bytes_loaded << "; folded "
                        << said.bytes_folded << ", " << done.bytes_folded;
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
  std::size_t n = 0;
  for (std::size_t count : counts) {
    count = std::min(count, longest);
    for (const std::string& parameters : parameter_choices(algorithm)) {
      for (const Kind& kind : kKinds) {
        for (const bool symmetric : {false, true}) {
          for (const bool in_place : {false, true}) {
            // Every pair of choices occurs; all of them only in the full grid.
            if (!full && n++ % 7 != 0) continue;
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
