// SPDX-License-Identifier: Apache-2.0
#include "bench/touch.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/touch.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tutti::bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void write_lines(std::byte* to, const Lines& lines, std::uint64_t seed, std::size_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const auto* table = reinterpret_cast<const std::uint8_t*>(lines.bytes.data());
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  std::uint64_t sum = seed;  // `line_at`, step by step
  std::uint64_t step = kFirstStep;
  std::size_t at = 0;
  for (; at + kLineBytes <= bytes; at += kLineBytes) {
    const std::uint8_t* from = table + (sum >> 59) * kLineBytes;
    for (std::size_t i = 0; i < kLineBytes; i += hn::Lanes(d)) {
      hn::StoreU(hn::Load(d, from + i), d, out + at + i);
    }
    sum += step;
    step += kStepGrowth;
  }
  std::memcpy(to + at, table + (sum >> 59) * kLineBytes, bytes - at);
}

std::uint64_t read_all(const std::byte* from, std::size_t bytes) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t n = hn::Lanes(d) * sizeof(std::uint64_t);
  const auto words = [&](std::size_t at) {
    return hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(from + at));
  };
  auto sum0 = hn::Zero(d);
  auto sum1 = sum0;
  auto sum2 = sum0;
  auto sum3 = sum0;
  std::size_t at = 0;
  for (; at + 4 * n <= bytes; at += 4 * n) {
    sum0 = hn::Add(sum0, words(at));
    sum1 = hn::Add(sum1, words(at + n));
    sum2 = hn::Add(sum2, words(at + 2 * n));
    sum3 = hn::Add(sum3, words(at + 3 * n));
  }
  for (; at + n <= bytes; at += n) sum0 = hn::Add(sum0, words(at));
  std::uint64_t sum =
      hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; at < bytes; ++at) sum += static_cast<std::uint64_t>(from[at]);
  return sum;
}

}  // namespace
}  // namespace tutti::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::bench {

HWY_EXPORT(write_lines);
HWY_EXPORT(read_all);

void write_lines(std::byte* to, const Lines& lines, std::uint64_t seed, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(write_lines)(to, lines, seed, bytes);
}

std::uint64_t read_all(const std::byte* from, std::size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(read_all)(from, bytes);
}

}  // namespace tutti::bench
#endif
