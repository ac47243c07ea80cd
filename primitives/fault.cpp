// SPDX-License-Identifier: Apache-2.0
#include "primitives/fault.hpp"

#ifdef TUTTI_DELAY_POINTS

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <thread>

namespace tutti::detail {
namespace {

struct DelayPlan {
  std::uint64_t seed = 0;
  std::uint64_t most_us = 0;
};

DelayPlan read_delay_plan() {
  const char* text = std::getenv("TUTTI_DELAY");
  if (text == nullptr) return {};
  char* end = nullptr;
  DelayPlan plan;
  plan.seed = std::strtoull(text, &end, 10);
  if (*end == ':') plan.most_us = std::strtoull(end + 1, nullptr, 10);
  return plan;
}

struct FaultPlan {
  std::string_view which;
  long at = 0;
};

FaultPlan read_fault_plan() {
  const char* text = std::getenv("TUTTI_FAULT");
  if (text == nullptr) return {};
  const std::string_view whole(text);
  const std::size_t colon = whole.find(':');
  if (colon == std::string_view::npos) return {whole, 1};
  return {whole.substr(0, colon), std::strtol(text + colon + 1, nullptr, 10)};
}

}  // namespace

void delay_here(const char* point) {
  static const DelayPlan plan = read_delay_plan();
  if (plan.most_us == 0) return;
  thread_local std::uint64_t state =
      plan.seed * 0x9e3779b97f4a7c15u + std::hash<std::thread::id>{}(std::this_thread::get_id());
  state += std::hash<std::string_view>{}(point);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % 4 == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds((state >> 8) % plan.most_us));
  }
}

bool fault_here(Fault which) {
  static const FaultPlan plan = read_fault_plan();
  static std::array<std::atomic<long>, 3> calls{};
  static constexpr std::array<std::string_view, 3> kNames = {"memfd", "fallocate", "mmap"};
  const auto i = static_cast<std::size_t>(which);
  return plan.which == kNames[i] && calls[i].fetch_add(1) + 1 == plan.at;
}

std::chrono::milliseconds nap_here() {
  static const char* const text = std::getenv("TUTTI_NAP");
  static const std::chrono::milliseconds nap(text == nullptr ? 0 : std::atol(text));
  return nap;
}

}  // namespace tutti::detail

#endif
