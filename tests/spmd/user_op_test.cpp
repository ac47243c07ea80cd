// SPDX-License-Identifier: Apache-2.0
// Reductions of a program's own (`UserOp`): order and sizes of elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

using ::testing::HasSubstr;

/// A 2x2 matrix: products do not commute.
struct Matrix {
  std::int64_t a, b, c, d;
  friend bool operator==(const Matrix&, const Matrix&) = default;
};
Matrix operator*(const Matrix& x, const Matrix& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
          x.c * y.b + x.d * y.d};
}
const UserOp<Matrix> kProduct =
    user_op<Matrix>([](const Matrix& x, const Matrix& y) { return x * y; }, Commutes::No);

Matrix matrix_of(int pe, std::size_t index) {
  const auto r = static_cast<std::int64_t>(pe) + static_cast<std::int64_t>(index % 3);
  return index % 2 == 0 ? Matrix{1, r + 1, 0, 1} : Matrix{r + 1, 1, 1, 0};
}

std::vector<Matrix> matrices_of(int pe, std::size_t count) {
  std::vector<Matrix> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = matrix_of(pe, i);
  return all;
}

std::vector<Matrix> products_of(int pes, std::size_t count) {
  std::vector<Matrix> all = matrices_of(0, count);
  for (int pe = 1; pe < pes; ++pe) {
    for (std::size_t i = 0; i < count; ++i) all[i] = all[i] * matrix_of(pe, i);
  }
  return all;
}

template <class T>
Problem problem_of(const Team& team, Collective collective, std::size_t count, Memory memory,
                   bool reachable, Commutes commutes) {
  Problem problem;
  problem.collective = collective;
  problem.dtype = DType::User;
  problem.op = Op::User;
  problem.element_bytes = sizeof(T);
  problem.commutative = commutes == Commutes::Yes;
  problem.memory = memory;
  problem.reachable = reachable;
  problem.pes = team.size();
  problem.count = count;
  return problem;
}

/// Blocks of reduce_scatterv: PE i has i + count / p elements.
std::vector<std::size_t> counts_of(int pes, std::size_t count) {
  std::vector<std::size_t> counts;
  for (int pe = 0; pe < pes; ++pe) {
    counts.push_back(static_cast<std::size_t>(pe) + count / static_cast<std::size_t>(pes));
  }
  return counts;
}

std::size_t total_of(const std::vector<std::size_t>& counts, int before) {
  std::size_t sum = 0;
  for (int i = 0; i < before; ++i) sum += counts[static_cast<std::size_t>(i)];
  return sum;
}

/// One call on private memory; `value(pe, i)` is input, `expected[i]` the reduction of all PEs'.
/// `in_place`: output and input share memory.
template <class T>
void check_call(Team& team, Collective collective, std::size_t count, const UserOp<T>& op,
                const std::vector<T>& mine, const std::vector<T>& expected, bool in_place,
                const Call& call) {
  const int root = team.size() - 1;
  const auto pe = static_cast<std::size_t>(team.pe());
  std::vector<T> in = mine;
  std::vector<T> out(mine.size());
  std::span<const T> result = in_place ? in : out;
  std::size_t begin = 0;
  std::size_t size = count;
  if (collective == Collective::Allreduce) {
    in_place ? allreduce(team, in, op, call) : allreduce(team, in, out, op, call);
  } else if (collective == Collective::Reduce) {
    in_place ? reduce(team, in, op, root, call) : reduce(team, in, out, op, root, call);
    if (team.pe() != root) return;
  } else {
    std::vector<std::size_t> counts(static_cast<std::size_t>(team.size()), count);
    if (collective == Collective::ReduceScatterv) counts = counts_of(team.size(), count);
    begin = total_of(counts, team.pe());
    size = counts[pe];
    const auto to = in_place ? std::span(in).subspan(begin, size) : std::span(out).first(size);
    if (collective == Collective::ReduceScatter) {
      reduce_scatter(team, in, to, op, call);
    } else {
      reduce_scatterv(team, in, to, counts, op, call);
    }
    result = to;
  }
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(result[i], expected[begin + i])
        << name_of(collective) << '/' << call.algorithm << ", PE " << team.pe() << " of "
        << team.size() << ", element " << i << " of " << size << (in_place ? ", in place" : "");
  }
}

std::size_t elements_of(Collective collective, std::size_t count, int pes) {
  if (collective == Collective::ReduceScatter) return count * static_cast<std::size_t>(pes);
  if (collective == Collective::ReduceScatterv) return total_of(counts_of(pes, count), pes);
  return count;
}

constexpr std::array kReducing = {Collective::Allreduce, Collective::Reduce,
                                  Collective::ReduceScatter, Collective::ReduceScatterv};

/// Every algorithm on matrices of private memory: right, or refused for its order.
void check_matrices(Team& team, bool reachable, std::size_t count, std::size_t& ran) {
  for (const Collective collective : kReducing) {
    const std::size_t elements = elements_of(collective, count, team.size());
    const auto mine = matrices_of(team.pe(), elements);
    const auto expected = products_of(team.size(), elements);
    for (const Algorithm* algorithm : algorithms(collective)) {
      const std::size_t facts = collective == Collective::ReduceScatterv ? elements : count;
      const Problem problem =
          problem_of<Matrix>(team, collective, facts, Memory::Private, reachable, Commutes::No);
      Problem any = problem;
      any.commutative = true;
      if (algorithm->supports(any) != nullptr) continue;
      const bool keeps = algorithm->keeps_order || algorithm->keeps_ordered;
      for (const char* parameters : {"", ":chunk_bytes=1K,ring_bytes=16K"}) {
        if (parameters[0] != '\0' && algorithm->parameters.empty()) continue;
        const std::string name = std::string(algorithm->name) + parameters;
        for (const bool in_place : {false, true}) {
          const auto call = [&] {
            check_call(team, collective, count, kProduct, mine, expected, in_place,
                       {.algorithm = name});
          };
          if (keeps && algorithm->supports(problem) == nullptr) {
            call();
            ++ran;
          } else {
            const Caught error = caught(call);
            EXPECT_EQ(error.code, ErrorCode::Tuning) << name << " was not refused";
            EXPECT_THAT(error.text, HasSubstr("not commutative")) << name;
          }
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(UserOp, products_of_matrices_keep_the_order_of_pes_or_are_refused_in_every_algorithm) {
  for (int pes = 2; pes <= 8; ++pes) {
    for (const std::uint64_t seed : {0, 7}) {
      run_world(pes, seed, [&](Team& team) {
        std::size_t ran = 0;
        for (const std::size_t count : {1, 5, 1000}) {
          if (seed != 0 && count == 1000 && pes > 5) continue;  // a message is an allocation
          check_matrices(team, seed == 0, count, ran);
        }
        EXPECT_GT(ran, 20U);
      });
    }
  }
}

TEST(UserOp, products_of_symmetric_matrices_keep_the_order_in_every_algorithm_for_them) {
  for (const int pes : {2, 3, 8}) {
    run_world(pes, 0, [&](Team& team) {
      const auto p = static_cast<std::size_t>(pes);
      auto in = make_tensor<Matrix>(team, {1000 * p});
      auto out = make_tensor<Matrix>(team, {1000 * p});
      auto block = make_tensor<Matrix>(team, {1000});
      std::ranges::copy(matrices_of(team.pe(), 1000 * p), in.local().begin());
      const auto expected = products_of(pes, 1000 * p);
      for (const char* name : {"symmetric_push", "two_shot", "one_shot"}) {
        allreduce(team, in, out, kProduct, {.algorithm = name});
        EXPECT_TRUE(std::ranges::equal(out.local(), expected)) << name;
      }
      for (const char* name : {"symmetric_pull", "direct"}) {
        reduce_scatter(team, in, block, kProduct, {.algorithm = name});
        const auto mine = std::span(expected).subspan(static_cast<std::size_t>(team.pe()) * 1000);
        EXPECT_TRUE(std::ranges::equal(block.local(), mine.first(1000))) << name;
      }
      reduce(team, in, out, kProduct, 0, {.algorithm = "direct"});
      EXPECT_TRUE(team.pe() != 0 || std::ranges::equal(out.local(), expected));
    });
  }
}

template <std::size_t kBytes>
struct Blob {
  std::array<std::uint8_t, kBytes> bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

/// Adds bytes: commutes, so that every algorithm is asked.
template <std::size_t kBytes>
void check_size(Team& team, std::size_t count, bool reachable) {
  using T = Blob<kBytes>;
  const UserOp<T> op = user_op<T>(
      [](const T& x, const T& y) {
        T sum;
        for (std::size_t i = 0; i < kBytes; ++i) {
          sum.bytes[i] = static_cast<std::uint8_t>(x.bytes[i] + y.bytes[i]);
        }
        return sum;
      },
      Commutes::Yes);
  for (const Collective collective : kReducing) {
    const std::size_t elements = elements_of(collective, count, team.size());
    std::vector<T> mine(elements);
    std::vector<T> expected(elements);
    for (std::size_t i = 0; i < elements * kBytes; ++i) {
      const auto value = [&](int pe) { return i * 7 + static_cast<std::size_t>(pe) * 13 + 1; };
      std::size_t sum = 0;
      for (int pe = 0; pe < team.size(); ++pe) sum += value(pe);
      mine[i / kBytes].bytes[i % kBytes] = static_cast<std::uint8_t>(value(team.pe()));
      expected[i / kBytes].bytes[i % kBytes] = static_cast<std::uint8_t>(sum);
    }
    for (const Algorithm* algorithm : algorithms(collective)) {
      const std::size_t facts = collective == Collective::ReduceScatterv ? elements : count;
      if (algorithm->supports(problem_of<T>(team, collective, facts, Memory::Private, reachable,
                                            Commutes::Yes)) != nullptr) {
        continue;
      }
      for (const char* parameters : {"", ":chunk_bytes=1K,ring_bytes=16K"}) {
        if (parameters[0] != '\0' && algorithm->parameters.empty()) continue;
        const std::string name = std::string(algorithm->name) + parameters;
        check_call(team, collective, count, op, mine, expected, count % 2 == 0,
                   {.algorithm = name});
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(UserOp, elements_of_any_size_stay_whole_in_slices_chunks_and_rings) {
  for (const int pes : {2, 3, 5, 8}) {
    for (const std::uint64_t seed : {0, 3}) {
      if (seed != 0 && pes == 8) continue;  // a message is an allocation
      run_world(pes, seed, [&](Team& team) {
        const bool reachable = seed == 0;
        for (const std::size_t count : {0, 1, 6, 37}) {
          if (!reachable && count > 6) continue;
          check_size<3>(team, count, reachable);
          check_size<24>(team, count, reachable);
          check_size<100>(team, count, reachable);
          check_size<129>(team, count, reachable);
        }
        check_size<4097>(team, 21, reachable);
        check_size<65536>(team, 3, reachable);
      });
    }
  }
}

TEST(UserOp, ordered_is_the_left_fold_also_where_the_operation_is_not_associative) {
  const UserOp<std::uint32_t> op = user_op<std::uint32_t>(
      [](const std::uint32_t& x, const std::uint32_t& y) { return x * 31 + y; }, Commutes::No);
  run_world(7, 0, [&](Team& team) {
    std::vector<std::uint32_t> mine(3000);
    std::vector<std::uint32_t> expected(3000);
    for (std::uint32_t i = 0; i < 3000; ++i) {
      mine[i] = static_cast<std::uint32_t>(team.pe()) * 5 + i;
      expected[i] = i;
      for (std::uint32_t pe = 1; pe < 7; ++pe) expected[i] = expected[i] * 31 + pe * 5 + i;
    }
    for (const Algorithm* algorithm : algorithms(Collective::Allreduce)) {
      if (!algorithm->keeps_ordered || algorithm->parameters.empty()) continue;
      std::vector<std::uint32_t> out(3000);
      allreduce(team, mine, out, op, {.algorithm = algorithm->name, .contract = Contract::Ordered});
      EXPECT_EQ(out, expected) << algorithm->name;
    }
    const Call ring{.algorithm = "ring", .contract = Contract::Ordered};
    EXPECT_THAT(caught([&] { allreduce(team, mine, op, ring); }).text, HasSubstr("'ordered'"));
  });
}

TEST(UserOp, a_function_with_context_on_a_type_of_the_library_works_started_and_in_place) {
  struct Modulus {
    std::uint64_t value;
  };
  const Modulus modulus{1000003};
  const UserOp<std::uint64_t> op(
      [](const void* context, std::uint64_t* acc, const std::uint64_t* next, std::size_t count) {
        const std::uint64_t m = static_cast<const Modulus*>(context)->value;
        for (std::size_t i = 0; i < count; ++i) acc[i] = acc[i] * next[i] % m;
      },
      &modulus, Commutes::Yes);
  run_world(4, 0, [&](Team& team) {
    std::vector<std::uint64_t> data(5000);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = i + 1;
    start(team, [&](Team& on, const Call& with) { allreduce(on, data, op, with); }).finish();
    for (std::uint64_t i = 0; i < data.size(); ++i) {
      const std::uint64_t square = (i + 1) * (i + 1) % modulus.value;
      ASSERT_EQ(data[i], square * square % modulus.value) << i;
    }
  });
}

TEST(UserOp, explain_says_why_algorithms_that_reorder_are_excluded) {
  run_world(3, 0, [](Team& team) {
    const Problem problem =
        problem_of<Matrix>(team, Collective::Allreduce, 1000, Memory::Private, true, Commutes::No);
    std::string text = to_string(explain(team, problem));
    EXPECT_THAT(text, HasSubstr("user of 32 bytes, not commutative"));
    EXPECT_THAT(text, HasSubstr("it does not keep the order of the PEs"));
    EXPECT_THAT(text, HasSubstr("a power of two of PEs only"));
    const auto mine = matrices_of(team.pe(), 1000);
    std::vector<Matrix> out(1000);
    allreduce(team, mine, out, kProduct);
    EXPECT_EQ(out, products_of(3, 1000));
    EXPECT_EQ(last_call(team).algorithm,
              describe(*explain(team, problem).algorithm, explain(team, problem).params));
  });
}

}  // namespace
}  // namespace tutti::tests
