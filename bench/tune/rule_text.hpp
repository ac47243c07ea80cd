// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tutti/tuning.hpp"

/// What a rule says, for people.
namespace tutti::bench {

/// "2", "64 to 4096", "0 to 79", "65536 and more", "all".
std::string to_text(const Range& range);

/// A name, or "all".
template <class Fact>
std::string to_text(const std::optional<Fact>& fact) {
  return fact ? std::string(name_of(*fact)) : "all";
}

/// "20.1 us (19.8 to 20.6) at 65536 bytes, 31 rounds; the built-in choice took 1.12 times as long;
/// two_shot took 1.21 to 1.33 times as long"; empty where there is no evidence.
std::string evidence_text(const Rule& rule);

/// What `show` prints of a rule: for which problems, what runs, with what evidence.
std::string to_text(const Rule& rule);

}  // namespace tutti::bench
