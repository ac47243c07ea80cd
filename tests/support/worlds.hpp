// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/options.hpp"
#include "tutti/team.hpp"

namespace tutti {

inline bool full_tests() {
  const char* text = std::getenv("TUTTI_TEST_FULL");
  return text != nullptr && std::string_view(text) != "0";
}

/// How often a test repeats what may go wrong rarely.
inline int rounds(int few, int many) { return full_tests() ? many : few; }

/// Runs `body` on `pes` PEs, reached by load and store (seed 0) or only by messages that are
/// delayed and reordered from a seed.
inline void run_world(int pes, std::uint64_t seed, const std::function<void(Team&)>& body) {
  SCOPED_TRACE(std::to_string(pes) + " PEs, " +
               (seed == 0 ? "direct" : "loopback seed " + std::to_string(seed)));
  Options options;
  options.loopback = seed != 0;
  options.loopback_seed = seed;
  try {
    run(pes, body, options);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

/// Runs `body` in worlds of 1 to 5 PEs, each by load and store and over the loopback transport.
inline void in_all_worlds(const std::function<void(Team&)>& body) {
  for (int pes = 1; pes <= 5; ++pes) {
    for (std::uint64_t seed = 0; seed <= 3; ++seed) run_world(pes, seed, body);
  }
}

/// The error that `f` throws; empty text if it throws none.
struct Caught {
  ErrorCode code = ErrorCode::System;
  std::string text;
};
template <class F>
Caught caught(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

/// `f` is refused, as InvalidArgument whose text holds `part`.
template <class F>
void expect_refused(F&& f, std::string_view part) {
  const Caught error = caught(f);
  EXPECT_NE(error.text, "") << "nothing was thrown; expected: " << part;
  EXPECT_EQ(error.code, ErrorCode::InvalidArgument) << error.text;
  EXPECT_NE(error.text.find(part), std::string::npos) << error.text << "\nlacks: " << part;
}

}  // namespace tutti
