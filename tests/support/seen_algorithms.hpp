// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every algorithm of the registries a second time, under a name of its own, with a body that notes
// that it ran before it does what the original does: what shows which body really ran.

#include <array>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/collectives.hpp"

namespace tutti::tests {

/// One entry of an algorithm's body.
struct Ran {
  const Algorithm* algorithm;
  Params params;
  friend bool operator==(const Ran&, const Ran&) = default;
  friend void PrintTo(const Ran& ran, std::ostream* out) {
    *out << describe(*ran.algorithm, ran.params);
  }
};

/// The bodies that this thread entered, oldest first; of `seen_algorithms` alone.
inline std::vector<Ran>& bodies_entered() {
  static thread_local std::vector<Ran> entered;
  return entered;
}

namespace detail_seen {

inline constexpr std::size_t kMost = 96;
inline std::array<const Algorithm*, kMost> originals{};
inline std::array<std::string, kMost> names;
inline std::array<Algorithm, kMost> copies{};

template <std::size_t I>
void run(Execution& execution, const Params& params) {
  bodies_entered().push_back({&copies[I], params});
  originals[I]->run(execution, params);
}

template <std::size_t... I>
constexpr auto runs_of(std::index_sequence<I...>) {
  return std::array<void (*)(Execution&, const Params&), kMost>{&run<I>...};
}

inline std::vector<const Algorithm*> make() {
  constexpr auto kRuns = runs_of(std::make_index_sequence<kMost>());
  std::vector<const Algorithm*> all;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Algorithm* original : algorithms(static_cast<Collective>(c))) {
      const std::size_t i = all.size();
      originals.at(i) = original;
      names[i] = std::string("seen_") + original->name;
      copies[i] = *original;
      copies[i].name = names[i].c_str();
      copies[i].run = kRuns[i];
      all.push_back(&copies[i]);
    }
  }
  return all;
}

}  // namespace detail_seen

/// For `Options::extra_algorithms`. "seen_ring" is the ring.
inline const std::vector<const Algorithm*>& seen_algorithms() {
  static const std::vector<const Algorithm*> all = detail_seen::make();
  return all;
}

inline bool is_seen(const Algorithm* algorithm) {
  return algorithm != nullptr && std::string_view(algorithm->name).starts_with("seen_");
}

}  // namespace tutti::tests
