// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "tutti/error.hpp"

namespace tutti::bench {
namespace {

namespace fs = std::filesystem;

struct Closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void fail(ErrorCode code, const std::string& path, int error) {
  throw Error(code, fmt::format("{}: {}", path, std::strerror(error)));
}

/// 0, or the error.
int write_all(const std::string& path, std::string_view text) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) return errno;
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return errno;
  return std::fclose(file.release()) == 0 ? 0 : errno;
}

}  // namespace

std::string read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail(ErrorCode::InvalidArgument, path, errno);
  std::string text;
  std::array<char, 65536> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), file.get())) {
    text.append(part.data(), got);
  }
  if (std::ferror(file.get()) != 0) fail(ErrorCode::InvalidArgument, path, errno);
  return text;
}

bool is_stream(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

void write_file(const std::string& path, std::string_view text) {
  if (is_stream(path)) {
    if (const int error = write_all(path, text)) fail(ErrorCode::System, path, error);
    return;
  }
  std::error_code ignored;
  const fs::path real = fs::canonical(path, ignored);  // what a link points to is replaced
  const std::string target = real.empty() ? path : real.string();
  const std::string temporary = fmt::format("{}.{}.tmp", target, ::getpid());
  int error = write_all(temporary, text);
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  std::remove(temporary.c_str());
  fail(ErrorCode::System, target, error);
}

}  // namespace tutti::bench
