// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace tutti::detail {

// Test aids, compiled in by TUTTI_DELAY_POINTS and driven by the environment; nothing otherwise.
//
// TUTTI_DELAY="SEED:MICROSECONDS"         at each named point, one time in four, sleep up to so
//                                         long.
// TUTTI_DELAY_AT="POINT:PE:MILLISECONDS"  at this point alone, each time that this PE of the job
//                                         comes to it.
// TUTTI_FAULT="mmap:3" or "mmap:3:1"      the third mmap (memfd, fallocate) of each PE, or
//                                         of PE 1 alone, fails; once.
// TUTTI_NAP="MILLISECONDS"                waits sleep at once, and so long each time unless they
//                                         are woken: a lost wake-up becomes a standstill.
// TUTTI_LINE_NS="60,60,220"               what calibrations of the line transfer say, one after the
//                                         other, the last one for ever; they are then taken as
//                                         often as possible.
//
// All but TUTTI_NAP are read again by every PE when it starts, so that each job of a process may
// have its own.

/// Calibrations in the life of a team are not more frequent than this.
inline constexpr std::chrono::milliseconds kCalibrationPause{100};

enum class Fault : std::uint8_t { Memfd, Fallocate, Mmap };

#ifdef TUTTI_DELAY_POINTS
void arm_faults(int pe);  ///< the calling thread is PE `pe` of a job that starts
void delay_here(const char* point);
bool fault_here(Fault which);
std::chrono::milliseconds nap_here();  ///< 0: as usual
std::optional<double> line_ns_here();
std::chrono::milliseconds calibration_pause_here();
#else
inline void arm_faults(int) {}
inline void delay_here(const char*) {}
inline bool fault_here(Fault) { return false; }
constexpr std::chrono::milliseconds nap_here() { return {}; }
constexpr std::optional<double> line_ns_here() { return {}; }
constexpr std::chrono::milliseconds calibration_pause_here() { return kCalibrationPause; }
#endif

}  // namespace tutti::detail
