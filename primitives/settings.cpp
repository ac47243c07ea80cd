// SPDX-License-Identifier: Apache-2.0
#include "primitives/settings.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
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

}  // namespace

Environment read_environment() {
  Environment environment;
  take(environment.heap, "TUTTI_HEAP");
  take(environment.timeout, "TUTTI_TIMEOUT");
  take(environment.trace, "TUTTI_TRACE");
  take(environment.follow_regime, "TUTTI_FOLLOW_REGIME");
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
  settings.trace = environment.trace[0] != '\0' && environment.trace[0] != '0';
  settings.follow_regime = options.follow_regime;
  if (const std::string_view text = environment.follow_regime.data(); !text.empty()) {
    if (text != "0" && text != "1") {
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("TUTTI_FOLLOW_REGIME is \"{}\"; allowed are 0 and 1", text));
    }
    settings.follow_regime = text == "1";
  }
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
    std::ifstream in(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
    mine = {text.size(), in.is_open() ? 0 : ENOENT};
  }
  std::vector<Announced> all(static_cast<std::size_t>(pes));
  allgather(&mine, sizeof mine, all.data());
  if (all[0].error != 0 || all[0].bytes > kLargestFile) {
    throw Error(ErrorCode::Tuning,
                fmt::format("TUTTI_TUNING: {} {}", path,
                            all[0].error != 0 ? "cannot be read" : "has more than 4 MiB"));
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
