// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "collectives/kernels/fold.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tutti::detail {
namespace {

#if defined(__SSE2__)

constexpr unsigned kFlushBits = 0x8040;   // FTZ, DAZ
constexpr unsigned kRaisedBits = 0x003F;  // exceptions raised so far

unsigned control() { return _mm_getcsr(); }
void set_control(unsigned value) { _mm_setcsr(value); }

#elif defined(__aarch64__)

constexpr unsigned kFlushBits = (1u << 24) | (1u << 19);  // FZ, FZ16
constexpr unsigned kRaisedBits = 0;                       // in a register of their own

unsigned control() {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return static_cast<unsigned>(value);
}

void set_control(unsigned value) {
  asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{value}) : "memory");
}

#else

constexpr unsigned kFlushBits = 0;
constexpr unsigned kRaisedBits = 0;

unsigned control() { return 0; }
void set_control(unsigned) {}

#endif

}  // namespace

unsigned float_mode() noexcept { return control() & ~kRaisedBits; }

FloatMode::FloatMode(unsigned mode) noexcept : saved_(float_mode()) {
  if (mode != saved_) set_control(mode | (control() & kRaisedBits));
}

FloatMode::~FloatMode() {
  if (float_mode() != saved_) set_control(saved_ | (control() & kRaisedBits));
}

DenormalGuard::DenormalGuard() noexcept : saved_(control()) {
  if ((saved_ & kFlushBits) != 0) set_control(saved_ & ~kFlushBits);
}

DenormalGuard::~DenormalGuard() {
  // The bits alone: exception flags that were raised since stay raised.
  if ((saved_ & kFlushBits) != 0) set_control(control() | (saved_ & kFlushBits));
}

}  // namespace tutti::detail
