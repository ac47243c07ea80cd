// SPDX-License-Identifier: Apache-2.0
#include "primitives/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "primitives/fault.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

[[noreturn]] void refuse(ErrorCode code, const char* call, std::size_t bytes, int error) {
  throw Error(
      code, fmt::format("{} of {} bytes of shared memory: {}", call, bytes, std::strerror(error)));
}

/// Reserves addresses that begin at a multiple of a huge page, which is what it takes to get them.
std::byte* reserve_aligned(std::size_t bytes) {
  void* reserved = mmap(nullptr, bytes + kHugePage, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(reserved);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, kHugePage - before);
  return begin + before;
}

/// Maps shared memory; asks for huge pages, which the system grants or does not.
std::byte* map(int fd, std::size_t bytes) {
  int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  std::byte* at = bytes >= kHugePage ? reserve_aligned(bytes) : nullptr;
  if (at != nullptr) flags |= MAP_FIXED;
  void* data = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (data == MAP_FAILED || fault_here(Fault::Mmap)) {
    const int error = data == MAP_FAILED ? errno : ENOMEM;
    if (data != MAP_FAILED) at = static_cast<std::byte*>(data);
    if (at != nullptr) munmap(at, bytes);  // or what was reserved for it
    refuse(ErrorCode::OutOfMemory, "mmap", bytes, error);
  }
  if (bytes >= kHugePage) madvise(data, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(data);
}

// Page faults in the middle of a copy cost ten times the copy, so all pages are mapped now.
void populate(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(data, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < bytes; at += page) {
    static_cast<void>(*static_cast<volatile std::byte*>(data + at));
  }
}

}  // namespace

Segment Segment::create(std::size_t bytes, bool for_processes, const char* name) {
  Segment made;
  made.bytes_ = bytes;
  if (for_processes) {
    made.fd_ = memfd_create(name, MFD_CLOEXEC);
    if (made.fd_ < 0 || fault_here(Fault::Memfd)) {
      refuse(ErrorCode::OutOfMemory, "memfd_create", bytes, made.fd_ < 0 ? errno : EMFILE);
    }
    const int error = fault_here(Fault::Fallocate)
                          ? ENOSPC
                          : posix_fallocate(made.fd_, 0, static_cast<off_t>(bytes));
    if (error != 0) refuse(ErrorCode::OutOfMemory, "posix_fallocate", bytes, error);
  }
  made.data_ = map(made.fd_, bytes);
  populate(made.data_, bytes);
  return made;
}

Segment Segment::open(pid_t pid, int fd, std::size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, fd);
  Segment made;
  made.bytes_ = bytes;
  made.fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (made.fd_ < 0) {
    throw Error(ErrorCode::System, fmt::format("open {}: {}", path, std::strerror(errno)));
  }
  const off_t size = lseek(made.fd_, 0, SEEK_END);
  if (size < 0 || static_cast<std::size_t>(size) < bytes) {
    throw Error(ErrorCode::System,
                fmt::format("{} has {} bytes, expected at least {}", path, size, bytes));
  }
  made.data_ = map(made.fd_, bytes);
  populate(made.data_, bytes);
  close(std::exchange(made.fd_, -1));  // the mapping keeps the memory
  return made;
}

Segment::Segment(Segment&& other) noexcept { *this = std::move(other); }

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  return *this;
}

Segment::~Segment() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (fd_ >= 0) close(fd_);
}

}  // namespace tutti::detail
