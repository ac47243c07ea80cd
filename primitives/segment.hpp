// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace tutti::detail {

/// A range of memory that peers can map, populated before its first use. Memory that other
/// processes map is a memfd (it has no name and vanishes with its last user); memory that only
/// threads of this process see is anonymous.
class Segment {
 public:
  Segment() = default;
  /// Reserves and populates; throws `Error` (OutOfMemory) with the system's reason.
  /// `name`: of the memfd, as /proc/PID/fd shows it.
  static Segment create(std::size_t bytes, bool for_processes, const char* name = "tutti");
  /// Maps a peer's memfd; throws `Error` (System) if it cannot be reached.
  static Segment open(pid_t pid, int fd, std::size_t bytes);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  int fd() const noexcept { return fd_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int fd_ = -1;
};

}  // namespace tutti::detail
