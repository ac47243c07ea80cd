// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstddef>
#include <string>

namespace tutti::detail {

/// A polite spin: tells the core that this is a waiting loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Stands for the calling thread while it lives; a register, unlike the address of a thread_local
/// variable of a shared library.
inline const void* this_thread_tag() noexcept { return __builtin_thread_pointer(); }

/// This thread's affinity mask.
cpu_set_t affinity() noexcept;

/// CPUs' worth of time that the cgroups of this process grant (versions 1 and 2), or 0 = no limit.
double cgroup_cpu_quota();

/// Bytes that can still be had before the machine or a cgroup of this process (versions 1 and 2,
/// every level) runs out, and the name of that limit.
struct MemoryRoom {
  std::size_t bytes;
  std::string limit;
};
MemoryRoom memory_room();

}  // namespace tutti::detail
