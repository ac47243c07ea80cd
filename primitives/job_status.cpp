// SPDX-License-Identifier: Apache-2.0
// Looks at the control blocks of a job through the file descriptors that their processes hold.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <tuple>

#include "primitives/control.hpp"
#include "tutti/error.hpp"
#include "tutti/job.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using detail::ControlBlock;

struct Unmap {
  void operator()(const ControlBlock* block) const {
    munmap(const_cast<ControlBlock*>(block), detail::kControlBytes);
  }
};
using Mapped = std::unique_ptr<const ControlBlock, Unmap>;

/// The control block behind a descriptor of another process, if it is one of this layout.
Mapped map_control(const fs::path& descriptor) {
  const int fd = open(descriptor.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* data = lseek(fd, 0, SEEK_END) >= static_cast<off_t>(detail::kControlBytes)
                   ? mmap(nullptr, detail::kControlBytes, PROT_READ, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
  close(fd);
  if (data == MAP_FAILED) return nullptr;
  Mapped mapped(static_cast<const ControlBlock*>(data));
  const bool known = mapped->identity.magic.load() == detail::Identity::kMagic;
  return known ? std::move(mapped) : nullptr;
}

/// The system's word for what a process does.
std::string process_state(int pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return "gone";
  switch (text[name_end + 2]) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "waiting for a device";
    case 'T':
    case 't':
      return "stopped";
    case 'Z':
    case 'X':
      return "dead";
    default:
      return std::string(1, text[name_end + 2]);
  }
}

std::string state_of(const ControlBlock& block) {
  switch (block.state.load()) {
    case detail::PeState::Finished:
      return "finished";
    case detail::PeState::Failed:
      return "failed: " + block.failure.text();
    case detail::PeState::Running:
      break;
  }
  return "running";
}

PeStatus status_of(const ControlBlock& block) {
  PeStatus status;
  status.job = block.identity.job.load();
  status.pe = static_cast<int>(block.identity.pe.load());
  status.pes = static_cast<int>(block.identity.pes.load());
  status.pid = static_cast<int>(block.identity.pid.load());
  status.process = process_state(status.pid);
  status.state = state_of(block);
  const std::uint64_t since = block.wait.since_ns.load();
  if (since != 0) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto began = std::chrono::nanoseconds(static_cast<std::int64_t>(since));
    status.waiting = true;
    status.waiting_seconds = std::chrono::duration<double>(now - began).count();
    status.waits_for = block.wait.text.get();
  }
  return status;
}

/// Adds what process `pid` holds; a child of a fork holds its parent's too.
void add_blocks(int pid, std::vector<PeStatus>& found) {
  std::error_code error;
  const std::string wanted = fmt::format("/memfd:{} (deleted)", detail::kControlName);
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), error)) {
    if (fs::read_symlink(entry.path(), error) != wanted || error) continue;
    if (const Mapped block = map_control(entry.path())) found.push_back(status_of(*block));
  }
}

/// Every process that this user may look at.
std::vector<int> processes() {
  std::vector<int> pids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    int pid = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failed == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

std::vector<PeStatus> job_status(int pid) {
  if (!fs::exists(fmt::format("/proc/{}", pid))) {
    throw Error(ErrorCode::InvalidArgument, fmt::format("job_status: no process {}", pid));
  }
  std::error_code error;
  const fs::directory_iterator readable(fmt::format("/proc/{}/fd", pid), error);
  if (error) {
    throw Error(ErrorCode::System,
                fmt::format("job_status: cannot look at process {}: {}", pid, error.message()));
  }
  std::vector<PeStatus> found;
  add_blocks(pid, found);
  std::vector<std::uint64_t> jobs;
  for (const PeStatus& status : found) jobs.push_back(status.job);
  if (jobs.empty()) return found;
  for (const int other : processes()) {
    if (other != pid) add_blocks(other, found);
  }
  std::erase_if(found, [&](const PeStatus& status) {
    return std::ranges::find(jobs, status.job) == jobs.end();
  });
  const auto place = [](const PeStatus& status) { return std::tuple(status.job, status.pe); };
  std::ranges::sort(found, {}, place);
  const auto doubles = std::ranges::unique(found, {}, place);
  found.erase(doubles.begin(), doubles.end());
  return found;
}

}  // namespace tutti
