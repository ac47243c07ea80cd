// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tutti::tests {

inline std::string_view text_of(const std::uint8_t* data, std::size_t bytes) {
  return {reinterpret_cast<const char*>(data), bytes};
}

/// libFuzzer keeps the input of a process that aborts, and says where.
inline void end_on(const std::string& complaint) {
  if (complaint.empty()) return;
  std::fprintf(stderr, "COMPLAINT: %s\n", complaint.c_str());
  std::abort();
}

}  // namespace tutti::tests
