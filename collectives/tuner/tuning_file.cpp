// SPDX-License-Identifier: Apache-2.0
#include "collectives/tuner/tuning_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "collectives/tuner/json.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(ErrorCode code, const std::string& path, int error) {
  throw Error(code, fmt::format("{}: {}", path, std::strerror(error)));
}

/// 0, or the error.
int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void write_directly(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail(ErrorCode::System, path, errno);
  if (const int error = write_all(file.get(), text)) fail(ErrorCode::System, path, error);
}

void write_and_rename(const std::string& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  int error = 0;
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (file.get() < 0) fail(ErrorCode::System, temporary, errno);
    error = write_all(file.get(), text);
    if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  }
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  fail(ErrorCode::System, path, error);
}

}  // namespace

void write_tuning(const std::string& path, const Tuning& tuning) {
  const std::string text = to_json(tuning);
  if (text.size() > detail::kMostFileBytes) {
    throw Error(ErrorCode::Tuning,
                fmt::format("{}: {} bytes, which would not be read again; at most {}", path,
                            text.size(), detail::kMostFileBytes));
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_directly(path, text);
  const fs::path target = fs::exists(status) ? fs::canonical(path, ignored) : fs::path(path);
  write_and_rename(target.empty() ? path : target.string(), text);
}

std::string detail::read_tuning_text(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(ErrorCode::Tuning, path, errno);
  std::string text;
  std::array<char, 65536> part{};
  while (text.size() <= kMostFileBytes) {
    const ssize_t got = ::read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorCode::Tuning, path, errno);
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  throw Error(ErrorCode::Tuning, fmt::format("{}: more than {} bytes, too large for a tuning file",
                                             path, kMostFileBytes));
}

}  // namespace tutti
