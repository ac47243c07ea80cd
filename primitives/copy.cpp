// SPDX-License-Identifier: Apache-2.0
#include "primitives/copy.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "primitives/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "primitives/copy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tutti::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Streams whole blocks of four vectors to an aligned `to`; returns the bytes that it copied.
std::size_t stream_blocks([[maybe_unused]] std::uint8_t* to,
                          [[maybe_unused]] const std::uint8_t* from,
                          [[maybe_unused]] std::size_t bytes) {
  std::size_t at = 0;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t n = hn::Lanes(d);
  for (; bytes - at >= 4 * n; at += 4 * n) {
    const auto v0 = hn::LoadU(d, from + at);
    const auto v1 = hn::LoadU(d, from + at + n);
    const auto v2 = hn::LoadU(d, from + at + 2 * n);
    const auto v3 = hn::LoadU(d, from + at + 3 * n);
    hn::Stream(v0, d, to + at);
    hn::Stream(v1, d, to + at + n);
    hn::Stream(v2, d, to + at + 2 * n);
    hn::Stream(v3, d, to + at + 3 * n);
  }
#endif
  return at;
}

}  // namespace
}  // namespace tutti::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::detail {
namespace {

HWY_EXPORT(stream_blocks);

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kSmallBytes = 256;

}  // namespace

void copy(void* to, const void* from, std::size_t bytes, Store store) noexcept {
  if (bytes == 0) return;
  if (store == Store::Cached || bytes < kSmallBytes) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto* out = static_cast<std::uint8_t*>(to);
  const auto* in = static_cast<const std::uint8_t*>(from);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(out) % kLineBytes;
  std::memcpy(out, in, head);
  const std::size_t streamed =
      HWY_DYNAMIC_DISPATCH(stream_blocks)(out + head, in + head, bytes - head);
  const std::size_t done = head + streamed;
  std::memcpy(out + done, in + done, bytes - done);
  hwy::FlushStream();
}

}  // namespace tutti::detail
#endif
