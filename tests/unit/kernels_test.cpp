// SPDX-License-Identifier: Apache-2.0
// What the kernels leave out has to be known first.
// clang-format off
#include "primitives/simd_targets.hpp"

#include <hwy/targets.h>
// clang-format on

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "collectives/kernels/fold.hpp"
#include "fold_reference.hpp"
#include "primitives/copy.hpp"
#include "tutti/types.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tutti::detail {
namespace {

using std::size_t;
using tests::bits_of;
using tests::left_fold;
using tests::narrow;
using tests::value_at;

/// `count` elements at any address, with guards around them.
template <class T>
class Buffer {
 public:
  Buffer(size_t count, size_t shift) : shift_(shift), bytes_(count * sizeof(T)) {
    raw_.assign(kGuard + kGuard + shift_ + bytes_ + kGuard, kFill);
    const auto address = reinterpret_cast<std::uintptr_t>(raw_.data() + kGuard);
    shift_ += -address % kGuard;
  }
  void* data() { return raw_.data() + kGuard + shift_; }
  T get(size_t i) {
    T value;
    std::memcpy(&value, static_cast<unsigned char*>(data()) + i * sizeof(T), sizeof(T));
    return value;
  }
  void set(size_t i, T value) {
    std::memcpy(static_cast<unsigned char*>(data()) + i * sizeof(T), &value, sizeof(T));
  }
  bool guards_hold() const {
    for (size_t i = 0; i < raw_.size(); ++i) {
      const bool inside = i >= kGuard + shift_ && i < kGuard + shift_ + bytes_;
      if (!inside && raw_[i] != kFill) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kFill = 0xA5;
  size_t shift_;
  size_t bytes_;
  std::vector<unsigned char> raw_;
};

struct Case {
  Op op = Op::Sum;
  size_t count = 0;
  size_t sources = 2;
  size_t outs = 1;
  size_t shift = 0;         ///< bytes by which source k and output k miss alignment, times k + 1
  bool same_shift = false;  ///< the shift is the same for all
  bool stream = false;
  size_t in_place = SIZE_MAX;  ///< output 0 is this source
};

template <class T>
::testing::AssertionResult folds_exactly(const Case& c) {
  const auto shift = [&c](size_t k) { return c.same_shift ? c.shift : c.shift * (k + 1) % 61; };
  std::vector<Buffer<T>> in, out;
  std::vector<const void*> sources;
  std::vector<void*> outs;
  std::vector<T> expected(c.count);
  for (size_t k = 0; k < c.sources; ++k) in.emplace_back(c.count, shift(k));
  for (size_t k = 0; k < c.outs; ++k) out.emplace_back(c.count, shift(k + 3));
  for (auto& buffer : in) sources.push_back(buffer.data());
  for (auto& buffer : out) outs.push_back(buffer.data());
  for (size_t i = 0; i < c.count; ++i) {
    std::vector<T> values;
    for (size_t k = 0; k < c.sources; ++k) {
      values.push_back(value_at<T>(k, i));
      in[k].set(i, values[k]);
    }
    expected[i] = left_fold(c.op, values, c.sources);
  }
  if (c.in_place < c.sources) outs[0] = in[c.in_place].data();
  fold_kernel(dtype_of<T>,
              c.op)({outs.data(), c.outs, sources.data(), c.sources, c.count, c.sources, c.stream});

  const auto failure = [&c] {
    return ::testing::AssertionFailure()
           << fold_instruction_set() << " " << name_of(dtype_of<T>) << " " << name_of(c.op)
           << " count " << c.count << " sources " << c.sources << " outs " << c.outs << " shift "
           << c.shift << (c.stream ? " stream: " : ": ");
  };
  for (size_t k = 0; k < c.outs; ++k) {
    Buffer<T>& result = k == 0 && c.in_place < c.sources ? in[c.in_place] : out[k];
    for (size_t i = 0; i < c.count; ++i) {
      if (bits_of(result.get(i)) == bits_of(expected[i])) continue;
      return failure() << "output " << k << " element " << i << std::hex << " expected 0x"
                       << bits_of(expected[i]) << " got 0x" << bits_of(result.get(i));
    }
  }
  for (size_t k = 0; k < c.sources; ++k) {
    for (size_t i = 0; i < c.count && k != c.in_place; ++i) {
      if (bits_of(in[k].get(i)) != bits_of(value_at<T>(k, i))) return failure() << "source changed";
    }
    if (!in[k].guards_hold()) return failure() << "wrote around source " << k;
  }
  for (auto& buffer : out) {
    if (!buffer.guards_hold()) return failure() << "wrote around an output";
  }
  return ::testing::AssertionSuccess();
}

/// Calls `check.operator()<T>(op)` for every pair that has a kernel.
template <class... T, class Check>
void for_types(Check check) {
  const auto all_ops = [&check]<class U>(U) {
    for (size_t i = 0; i < kOps; ++i) {
      const Op op = static_cast<Op>(i);
      if (fold_kernel(dtype_of<U>, op) != nullptr) check.template operator()<U>(op);
    }
  };
  (all_ops(T()), ...);
}

template <class Check>
void for_all_types(Check check) {
  for_types<float, double, f16, bf16, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
            std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(check);
}

/// Runs each test once per instruction set that this CPU has.
class Fold : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

INSTANTIATE_TEST_SUITE_P(Targets, Fold, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& which) { return hwy::TargetName(which.param); });

template <class T>
std::vector<T> run_fold(Op op, const std::vector<std::vector<T>>& in, size_t divisor = 1) {
  std::vector<T> result(in[0].size());
  std::vector<const void*> sources;
  for (const auto& source : in) sources.push_back(source.data());
  void* out = result.data();
  fold_kernel(dtype_of<T>, op)({&out, 1, sources.data(), in.size(), result.size(), divisor});
  return result;
}

TEST_P(Fold, runs_the_kernels_of_the_forced_instruction_set) {
  EXPECT_EQ(fold_instruction_set(), hwy::TargetName(GetParam()));
}

TEST_P(Fold, equals_the_scalar_left_fold_for_every_type_op_count_and_shape) {
  for_all_types([]<class T>(Op op) {
    for (size_t count = 0; count <= 70; ++count) {
      for (const size_t sources : {1, 2, 3, 5, 9}) {
        const size_t outs = 1 + (count + sources) % 3;
        const Case c{
            .op = op, .count = count, .sources = sources, .outs = outs, .shift = count % 9};
        ASSERT_TRUE(folds_exactly<T>(c));
      }
    }
    for (const size_t count : {127, 256, 300, 1000}) {
      for (const size_t sources : {1, 2, 3, 5, 9}) {
        for (const size_t outs : {1, 2, 3}) {
          const Case c{.op = op, .count = count, .sources = sources, .outs = outs, .shift = outs};
          ASSERT_TRUE(folds_exactly<T>(c));
        }
      }
    }
  });
}

TEST_P(Fold, writes_any_source_in_place) {
  for_all_types([]<class T>(Op op) {
    for (const size_t count : {1, 7, 70, 300}) {
      for (const size_t sources : {1, 2, 5}) {
        for (size_t k = 0; k < sources; ++k) {
          Case c{.op = op, .count = count, .sources = sources, .outs = 1 + k % 3, .in_place = k};
          ASSERT_TRUE(folds_exactly<T>(c));
          c.stream = true;
          ASSERT_TRUE(folds_exactly<T>(c));
        }
      }
    }
  });
}

TEST_P(Fold, streams_the_same_bits_at_every_alignment) {
  for_all_types([]<class T>(Op op) {
    for (const size_t count : {0, 1, 63, 300, 600}) {
      for (const size_t shift : {0, 1, 2, 8, 32, 60}) {
        for (const size_t outs : {1, 2}) {
          Case c{.op = op, .count = count, .outs = outs, .shift = shift, .stream = true};
          ASSERT_TRUE(folds_exactly<T>(c));
          c.same_shift = true;
          ASSERT_TRUE(folds_exactly<T>(c));
        }
      }
    }
  });
}

TEST_P(Fold, refuses_bitwise_ops_on_floats_and_knows_all_others) {
  for (size_t type = 0; type < kDTypes; ++type) {
    for (size_t op = 0; op < kOps; ++op) {
      const bool bitwise = static_cast<Op>(op) >= Op::And;
      const bool refused = bitwise && !is_integer(static_cast<DType>(type));
      EXPECT_EQ(fold_kernel(static_cast<DType>(type), static_cast<Op>(op)) == nullptr, refused);
      EXPECT_EQ(fold_is_defined(static_cast<DType>(type), static_cast<Op>(op)), !refused);
    }
  }
}

TEST_P(Fold, adds_from_left_to_right) {
  const auto column = [](float x) { return std::vector<float>(100, x); };
  for (const float sum : run_fold<float>(Op::Sum, {column(1e8f), column(1), column(-1e8f)})) {
    ASSERT_EQ(sum, 0.0f);
  }
  for (const float sum : run_fold<float>(Op::Sum, {column(1e8f), column(-1e8f), column(1)})) {
    ASSERT_EQ(sum, 1.0f);
  }
}

TEST_P(Fold, accumulates_halves_in_f32_and_rounds_once) {
  const auto f16s = [](float x) { return std::vector<f16>(100, to_f16(x)); };
  const auto bf16s = [](float x) { return std::vector<bf16>(100, to_bf16(x)); };
  const auto over = run_fold<f16>(Op::Sum, {f16s(65504), f16s(65504)});
  const auto back = run_fold<f16>(Op::Sum, {f16s(65504), f16s(65504), f16s(-65504)});
  const auto once = run_fold<bf16>(Op::Sum, {bf16s(256), bf16s(1), bf16s(1)});
  for (size_t i = 0; i < over.size(); ++i) {
    ASSERT_EQ(over[i].bits, 0x7C00);
    ASSERT_EQ(to_float(back[i]), 65504.0f);
    ASSERT_EQ(to_float(once[i]), 258.0f);
  }
}

TEST_P(Fold, rounds_all_patterns_of_halves_as_the_scalar_conversions_do) {
  for_types<f16, bf16>([]<class T>(Op op) {
    for (const float other : {0.0f, 1.0f, 3e-5f, -0.37f, 1234.5f, 3e38f, 1e-38f}) {
      std::vector<T> x(65536), y(65536, narrow<T>(other));
      for (size_t i = 0; i < x.size(); ++i) x[i].bits = static_cast<std::uint16_t>(i);
      const auto got = run_fold<T>(op, {x, y}, 7);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(got[i].bits, left_fold<T>(op, {x[i], y[i]}, 7).bits)
            << name_of(dtype_of<T>) << " " << name_of(op) << " 0x" << std::hex << i << " " << other;
      }
    }
  });
}

TEST_P(Fold, divides_integers_towards_zero_by_any_team_size) {
  const std::vector<std::int8_t> bytes(70, -128);
  const std::vector<std::int64_t> words(9, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(run_fold<std::int8_t>(Op::Avg, {bytes}, 300), std::vector<std::int8_t>(70, 0));
  EXPECT_EQ(run_fold<std::int8_t>(Op::Avg, {bytes}, 3), std::vector<std::int8_t>(70, -42));
  EXPECT_EQ(run_fold<std::int64_t>(Op::Avg, {words}, 1), words);
}

#if defined(__SSE2__)
TEST_P(Fold, keeps_denormals_under_the_guard_and_restores_the_flags) {
  const std::vector<float> tiny(70, std::numeric_limits<float>::denorm_min());
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040);
  const auto flushed = run_fold<float>(Op::Sum, {tiny, tiny});
  std::vector<float> kept;
  {
    const DenormalGuard guard;
    kept = run_fold<float>(Op::Sum, {tiny, tiny});
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(flushed, std::vector<float>(70, 0.0f));
  EXPECT_EQ(kept, std::vector<float>(70, 2 * std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(after & 0x8040, 0x8040u);
}
#endif

TEST_P(Fold, copies_every_byte_and_no_other) {
  for (const size_t bytes : {0, 1, 255, 256, 257, 300, 319, 512, 1000, 4097}) {
    for (const size_t shift : {0, 1, 8, 33, 63}) {
      for (const Store store : {Store::Cached, Store::Stream}) {
        Buffer<std::uint8_t> from(bytes, 64 - shift), to(bytes, shift);
        for (size_t i = 0; i < bytes; ++i) from.set(i, static_cast<std::uint8_t>(i * 37));
        copy(to.data(), from.data(), bytes, store);
        ASSERT_EQ(std::memcmp(to.data(), from.data(), bytes), 0) << bytes << " at " << shift;
        ASSERT_TRUE(to.guards_hold()) << bytes << " at " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace tutti::detail
