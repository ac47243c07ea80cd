// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/engine.hpp"
#include "bench/tables.hpp"

namespace tutti::bench {

/// The command line of tutti-bench, without what is Google Benchmark's.
struct Flags {
  Cycle cycle = Cycle::Same;
  Effort effort;
  bool json = false;
  bool filtered = false;
  bool listing = false;
  const TableKind* table = nullptr;
  std::string out;  ///< of --benchmark_out
};

/// What --help prints.
std::string_view help_text();

/// Takes our own flags out of `args`; the rest is Google Benchmark's. Errors: `InvalidArgument`.
Flags take_flags(std::vector<char*>& args);

/// Throws `Error` (InvalidArgument) with a hint at --help.
[[noreturn]] void refuse_usage(const std::string& text);

}  // namespace tutti::bench
