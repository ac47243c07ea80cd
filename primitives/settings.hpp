// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "primitives/barrier.hpp"
#include "tutti/options.hpp"
#include "tutti/team.hpp"

namespace tutti::detail {

/// The variables that decide something for a whole job. Every PE reads its own; PE 0's count.
struct Environment {
  std::array<char, 32> heap{};
  std::array<char, 32> timeout{};
  std::array<char, 8> trace{};
  std::array<char, 8> follow_regime{};
  std::array<char, 32> workers{};
  std::array<char, 512> algorithm{};
  std::array<char, 512> tuning{};
};

/// Errors: `InvalidArgument` for a value that is too long.
Environment read_environment();

/// The most threads that one PE may share its work among.
inline constexpr int kMostWorkers = 64;

/// What all PEs of a job agreed on at start-up: PE 0's environment over the options.
struct Settings {
  std::size_t heap_bytes = 0;
  std::chrono::milliseconds timeout{0};
  int workers = 1;
  bool trace = false;
  bool follow_regime = true;
  std::string algorithm;               ///< TUTTI_ALGORITHM
  std::optional<BarrierKind> barrier;  ///< what it says of the barrier, if anything
  std::string tuning;                  ///< TUTTI_TUNING: a path, read by PE 0
  std::string tuning_text;             ///< what it holds
  /// Where there is a tuning file: the text of PE 0's machine, which decides for all whether the
  /// file is used (primitives/machine.hpp).
  std::string machine_text;
};

/// PE 0's environment over the options. Errors: `InvalidArgument` for a value that is not a size or
/// a duration, or not a possible number of workers; `Tuning` for a barrier that does not exist.
Settings settle(const Environment& environment, const Options& options);

/// Collective: PE 0 reads a file, everyone gets the text. Errors: `Tuning`, on all PEs, if it
/// cannot be read.
std::string shared_file(const std::string& path, int pe, int pes, const Allgather& allgather);

/// Collective: everyone gets PE 0's text.
std::string shared_text(const std::string& mine, int pes, const Allgather& allgather);

}  // namespace tutti::detail
