// SPDX-License-Identifier: Apache-2.0
#include "primitives/fault.hpp"

#ifdef TUTTI_DELAY_POINTS

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tutti::detail {
namespace {

constexpr long kEveryPe = -1;

/// A variable of up to three parts with colons between them; numbers that are left out are
/// `missing`.
struct Parts {
  std::string name;
  std::array<long, 2> numbers;
  friend bool operator==(const Parts&, const Parts&) = default;
};

Parts parts_of(const char* variable, long missing) {
  Parts parts{{}, {missing, missing}};
  const char* text = std::getenv(variable);
  if (text == nullptr) return parts;
  parts.name = text;
  for (std::size_t i = 0, colon = parts.name.find(':'); colon != std::string::npos && i < 2; ++i) {
    parts.numbers[i] = std::strtol(parts.name.c_str() + colon + 1, nullptr, 10);
    colon = parts.name.find(':', colon + 1);
  }
  parts.name.resize(std::min(parts.name.find(':'), parts.name.size()));
  return parts;
}

std::vector<double> numbers_of(const char* variable) {
  std::vector<double> numbers;
  const char* text = std::getenv(variable);
  std::istringstream in(text == nullptr ? "" : text);
  for (std::string part; std::getline(in, part, ',');) numbers.push_back(std::atof(part.c_str()));
  return numbers;
}

/// What the environment asks of a PE, or of a thread of its own.
struct Plan {
  Parts delay = parts_of("TUTTI_DELAY", 0);        ///< its name is the seed
  Parts delay_at = parts_of("TUTTI_DELAY_AT", 0);  ///< point, PE, milliseconds
  Parts fault = parts_of("TUTTI_FAULT", kEveryPe);
  std::vector<double> lines = numbers_of("TUTTI_LINE_NS");
  std::size_t next_line = 0;
  std::array<long, 3> calls{};
  int pe = 0;
};

Plan& plan() {
  thread_local Plan mine;
  return mine;
}

void delay_at_random(std::string_view point, long seed, long most_us) {
  thread_local std::uint64_t state = static_cast<std::uint64_t>(seed) * 0x9e3779b97f4a7c15u +
                                     std::hash<std::thread::id>{}(std::this_thread::get_id());
  state += std::hash<std::string_view>{}(point);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % 4 == 0) {
    std::this_thread::sleep_for(
        std::chrono::microseconds((state >> 8) % static_cast<std::uint64_t>(most_us)));
  }
}

}  // namespace

void arm_faults(int pe) {
  Plan now;
  now.pe = pe;
  if (now.fault == plan().fault) now.calls = plan().calls;  // a fault happens once
  plan() = now;
}

void delay_here(const char* point) {
  const Plan& asked = plan();
  if (asked.delay.numbers[0] > 0) {
    delay_at_random(point, std::atol(asked.delay.name.c_str()), asked.delay.numbers[0]);
  }
  if (asked.delay_at.name == point && asked.delay_at.numbers[0] == asked.pe) {
    std::this_thread::sleep_for(std::chrono::milliseconds(asked.delay_at.numbers[1]));
  }
}

bool fault_here(Fault which) {
  static constexpr std::array<std::string_view, 3> kNames = {"memfd", "fallocate", "mmap"};
  const auto i = static_cast<std::size_t>(which);
  Plan& asked = plan();
  const auto [at, pe] = asked.fault.numbers;
  if (asked.fault.name != kNames[i] || (pe != kEveryPe && pe != asked.pe)) return false;
  return ++asked.calls[i] == at;
}

std::chrono::milliseconds nap_here() {
  static const char* const text = std::getenv("TUTTI_NAP");
  static const std::chrono::milliseconds nap(text == nullptr ? 0 : std::atol(text));
  return nap;
}

std::optional<double> line_ns_here() {
  Plan& asked = plan();
  if (asked.lines.empty()) return std::nullopt;
  return asked.lines[std::min(asked.next_line++, asked.lines.size() - 1)];
}

std::chrono::milliseconds calibration_pause_here() {
  return plan().lines.empty() ? kCalibrationPause : std::chrono::milliseconds(0);
}

}  // namespace tutti::detail

#endif
