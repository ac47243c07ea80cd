// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace tutti::bench {

/// The name of a benchmark, "allreduce/f32/sum/private/auto/bytes:4096", taken apart.
struct SizedName {
  std::string_view kind;    ///< what comes before the size; all of it if there is none
  std::uint64_t bytes = 0;  ///< 0 if there is none
  bool has_size = false;
};

inline SizedName sized_name(std::string_view name) {
  constexpr std::string_view kBytes = "/bytes:";
  const std::size_t at = name.rfind(kBytes);
  if (at == std::string_view::npos) return {name};
  SizedName sized{name.substr(0, at), 0, true};
  std::from_chars(name.data() + at + kBytes.size(), name.data() + name.size(), sized.bytes);
  return sized;
}

}  // namespace tutti::bench
