// SPDX-License-Identifier: Apache-2.0
#include "bench/data.hpp"

#include <array>

namespace tutti::bench {
namespace {

/// The last step of SplitMix64.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

constexpr float kLarge = 32768;
/// Below half of the last place of kLarge: in f32, and in f64. What is added to a large one is lost
/// there and nowhere else. Both are f16 and bf16 too, where they are needed.
constexpr double kTiny32 = 1.0 / 1024;
constexpr double kTiny64 = 1.0 / (std::uint64_t{1} << 40);

template <class T>
T value_of(std::uint64_t bits, Data data) {
  if (data == Data::Exact) return narrowed<T>(static_cast<Wide<T>>(bits % 8));
  const double tiny = std::is_same_v<T, double> ? kTiny64 : kTiny32;
  const std::array<double, 4> values = {kLarge, -kLarge, tiny, 3 * tiny};
  return narrowed<T>(static_cast<Wide<T>>(values[bits % values.size()]));
}

}  // namespace

Lines lines_of(DType dtype, Data data) {
  Lines lines;
  with_type(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for (std::size_t at = 0; at < lines.bytes.size(); at += sizeof(T)) {
      const T value = value_of<T>(mixed(at + kFirstStep), data);
      std::memcpy(lines.bytes.data() + at, &value, sizeof value);
    }
  });
  return lines;
}

}  // namespace tutti::bench
