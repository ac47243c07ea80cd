// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "tutti/counts.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

/// Both zeros, denormals, ones, the largest numbers, infinities, quiet and signalling NaNs with
/// payloads; of both signs.
template <class T>
std::vector<T> hard_numbers(int mantissa_bits) {
  using Bits = BitsOf<T>;
  const auto bit = [](int at) { return static_cast<Bits>(std::uint64_t{1} << at); };
  const Bits sign = bit(8 * sizeof(T) - 1);
  const auto infinity = static_cast<Bits>(sign - bit(mantissa_bits));
  const auto one = static_cast<Bits>((infinity >> 1) & ~(bit(mantissa_bits) - 1));
  const auto quiet = static_cast<Bits>(infinity | bit(mantissa_bits - 1));
  std::vector<T> numbers;
  for (const std::uint64_t each :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{bit(mantissa_bits)},
        std::uint64_t{one}, one + std::uint64_t{1}, infinity - std::uint64_t{1},
        infinity - std::uint64_t{2}, std::uint64_t{infinity}, std::uint64_t{quiet},
        quiet | std::uint64_t{5}, infinity | std::uint64_t{3}}) {
    numbers.push_back(std::bit_cast<T>(static_cast<Bits>(each)));
    numbers.push_back(std::bit_cast<T>(static_cast<Bits>(each | sign)));
  }
  return numbers;
}

/// Each of the numbers on PE 0 meets each of them on PE 1.
template <class T>
std::vector<T> input_of(int pe, int mantissa_bits) {
  const std::vector<T> numbers = hard_numbers<T>(mantissa_bits);
  std::vector<T> input;
  for (const T& mine : numbers) {
    for (const T& other : numbers) input.push_back(pe == 0 ? mine : other);
  }
  return input;
}

constexpr int kRoot = 1;

/// One call. Returns where in `out` the results of this PE are.
template <class T>
std::span<T> run_one(Team& team, Collective collective, std::span<const T> in, std::span<T> out,
                     Op op, const Call& call) {
  const std::array counts = {in.size() / 2, in.size() / 2};
  const std::span<T> block = out.subspan(team.pe() == 0 ? 0 : counts[0], counts[0]);
  switch (collective) {
    case Collective::Allreduce:
      allreduce(team, in, out, op, call);
      return out;
    case Collective::Reduce:
      reduce(team, in, out, op, kRoot, call);
      return team.pe() == kRoot ? out : std::span<T>();
    case Collective::ReduceScatter:
      reduce_scatter(team, in, block, op, call);
      return block;
    default:
      reduce_scatterv(team, in, block, counts, op, call);
      return block;
  }
}

/// How many elements of a call the algorithm takes, up to `all`; 0: it cannot do it.
std::size_t elements_for(const Algorithm& algorithm, DType dtype, Op op, std::size_t all) {
  Problem problem;
  problem.collective = algorithm.collective;
  problem.dtype = dtype;
  problem.op = op;
  problem.pes = 2;
  problem.shared_address_space = true;
  for (const std::size_t elements : {all, std::size_t{56} / size_of(dtype) / 2 * 2}) {
    problem.count = has_blocks(problem.collective) ? elements / 2 : elements;
    if (algorithm.supports(problem) == nullptr) return elements;
  }
  return 0;
}

template <class T>
void expect_ordered_bits(Team& team, const Algorithm& algorithm, Op op, const std::vector<T>& in,
                         const std::vector<T>& expected) {
  const std::size_t part = elements_for(algorithm, dtype_of<T>, op, in.size());
  if (part == 0) return;
  for (std::size_t at = 0; at < in.size(); at += part) {
    std::vector<T> out(std::min(part, in.size() - at));
    const auto mine = run_one(team, algorithm.collective, std::span(in).subspan(at, out.size()),
                              std::span(out), op, {.algorithm = algorithm.name});
    const auto first = at + static_cast<std::size_t>(mine.data() - out.data());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      using Bits = BitsOf<T>;
      ASSERT_EQ(std::bit_cast<Bits>(mine[i]), std::bit_cast<Bits>(expected[first + i]))
          << name_of(algorithm.collective) << ' ' << algorithm.name << ' ' << name_of(op) << ' '
          << name_of(dtype_of<T>) << ", element " << first + i << ", PE " << team.pe();
    }
  }
}

template <class T>
void check(Team& team, int mantissa_bits) {
  const std::vector<T> in = input_of<T>(team.pe(), mantissa_bits);
  for (const Op op : {Op::Sum, Op::Prod, Op::Min, Op::Max, Op::Avg}) {
    std::vector<T> expected(in.size());
    allreduce(team, in, expected, op, {.contract = Contract::Ordered});
    for (const Collective collective : {Collective::Allreduce, Collective::Reduce,
                                        Collective::ReduceScatter, Collective::ReduceScatterv}) {
      for (const Algorithm* algorithm : algorithms(collective)) {
        expect_ordered_bits(team, *algorithm, op, in, expected);
      }
    }
  }
}

// One pair of operands has one order but for a swap, and every operation gives the same bits either
// way: what `tutti-tune diff` says of two PEs.
TEST(Contracts, consistent_results_of_two_pes_are_the_ordered_ones_whatever_the_algorithm) {
  run(2, [](Team& team) {
    check<float>(team, 23);
    check<double>(team, 52);
    check<f16>(team, 10);
    check<bf16>(team, 7);
  });
}

}  // namespace
}  // namespace tutti::tests
