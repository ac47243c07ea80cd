// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace tutti::detail {

// Test aids, compiled in by TUTTI_DELAY_POINTS and driven by the environment; nothing otherwise.
//
// TUTTI_DELAY="SEED:MICROSECONDS"   at each named point, one time in four, sleep up to so long.
// TUTTI_FAULT="mmap:3"              the third mmap of this process fails (memfd, fallocate, mmap).
// TUTTI_NAP="MILLISECONDS"          waits sleep at once, and so long each time unless they are
// woken:
//                                   a lost wake-up becomes a standstill.

enum class Fault : std::uint8_t { Memfd, Fallocate, Mmap };

#ifdef TUTTI_DELAY_POINTS
void delay_here(const char* point);
bool fault_here(Fault which);
std::chrono::milliseconds nap_here();  ///< 0: as usual
#else
inline void delay_here(const char*) {}
inline bool fault_here(Fault) { return false; }
constexpr std::chrono::milliseconds nap_here() { return {}; }
#endif

}  // namespace tutti::detail
