// SPDX-License-Identifier: Apache-2.0
#include "primitives/settings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "primitives/text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 20;

template <std::size_t N>
void take(std::array<char, N>& into, const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return;
  if (std::strlen(value) >= N) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{} has {} characters; at most {} are allowed", variable,
                            std::strlen(value), N - 1));
  }
  std::strcpy(into.data(), value);
}

/// Of a switch, whose valid values are short, the beginning is enough: it is refused by its value.
template <std::size_t N>
void take_switch(std::array<char, N>& into, const char* variable) {
  const char* value = std::getenv(variable);
  if (value != nullptr) std::string_view(value).copy(into.data(), N - 1);
}

bool checked_switch(const char* variable, std::string_view text, bool otherwise) {
  if (text.empty()) return otherwise;
  if (text == "0" || text == "1") return text == "1";
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{} is \"{}\"; allowed are 0 and 1", variable, text));
}

int checked_workers(const Environment& environment, const Options& options) {
  if (environment.workers[0] != '\0') {
    const std::string_view text = environment.workers.data();
    if (const auto workers = read_number(text, 1, kMostWorkers)) return *workers;
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("TUTTI_WORKERS is {}; allowed are numbers from 1 to {}",
                            in_quotes(text), kMostWorkers));
  }
  if (options.workers < 1 || options.workers > kMostWorkers) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("Options::workers is {}; allowed are numbers from 1 to {}",
                            options.workers, kMostWorkers));
  }
  return options.workers;
}

/// Reads until the end, or until it is too much. Returns the error number, 0 for none: the other
/// PEs wait for it.
int read_file(const std::string& path, std::string& text) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  std::array<char, 65536> part{};
  int error = 0;
  while (text.size() <= kLargestFile) {
    const ssize_t got = ::read(file, part.data(), part.size());
    if (got == 0) break;
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      error = errno;
      break;
    }
  }
  ::close(file);
  return error;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  take(environment.heap, "TUTTI_HEAP");
  take(environment.timeout, "TUTTI_TIMEOUT");
  take_switch(environment.trace, "TUTTI_TRACE");
  take_switch(environment.follow_regime, "TUTTI_FOLLOW_REGIME");
  take(environment.workers, "TUTTI_WORKERS");
  take(environment.algorithm, "TUTTI_ALGORITHM");
  take(environment.tuning, "TUTTI_TUNING");
  return environment;
}

Settings settle(const Environment& environment, const Options& options) {
  Settings settings;
  settings.heap_bytes = options.heap_bytes;
  settings.timeout = options.timeout;
  if (environment.heap[0] != '\0') {
    settings.heap_bytes = parse_bytes("TUTTI_HEAP", environment.heap.data());
  }
  if (environment.timeout[0] != '\0') {
    settings.timeout = parse_duration("TUTTI_TIMEOUT", environment.timeout.data());
  }
  settings.workers = checked_workers(environment, options);
  settings.trace = checked_switch("TUTTI_TRACE", environment.trace.data(), false);
  settings.follow_regime = checked_switch("TUTTI_FOLLOW_REGIME", environment.follow_regime.data(),
                                          options.follow_regime);
  settings.algorithm = environment.algorithm.data();
  settings.barrier = forced_barrier(settings.algorithm, "TUTTI_ALGORITHM");
  settings.tuning = environment.tuning.data();
  return settings;
}

std::string shared_file(const std::string& path, int pe, int pes, const Allgather& allgather) {
  struct Announced {
    std::size_t bytes = 0;
    int error = 0;
  };
  std::string text;
  Announced mine;
  if (pe == 0) {
    mine.error = read_file(path, text);
    mine.bytes = text.size();
  }
  std::vector<Announced> all(static_cast<std::size_t>(pes));
  allgather(&mine, sizeof mine, all.data());
  if (all[0].error != 0) {
    throw Error(ErrorCode::Tuning, fmt::format("TUTTI_TUNING: {} cannot be read: {}", path,
                                               std::strerror(all[0].error)));
  }
  if (all[0].bytes > kLargestFile) {
    throw Error(ErrorCode::Tuning, fmt::format("TUTTI_TUNING: {} has more than 4 MiB", path));
  }
  return shared_text(text, pes, allgather);
}

std::string shared_text(const std::string& mine, int pes, const Allgather& allgather) {
  std::size_t bytes = mine.size();
  std::vector<std::size_t> all(static_cast<std::size_t>(pes));
  allgather(&bytes, sizeof bytes, all.data());
  std::string text = mine;
  text.resize(all[0]);
  std::string every(text.size() * static_cast<std::size_t>(pes), '\0');
  allgather(text.data(), text.size(), every.data());
  return every.substr(0, text.size());
}

}  // namespace tutti::detail
