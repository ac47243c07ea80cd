// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/rule_text.hpp"

#include <fmt/format.h>

namespace tutti::bench {

std::string to_text(const Range& range) {
  if (!range.low && !range.high) return "all";
  if (!range.high) return fmt::format("{} and more", *range.low);
  if (range.low == range.high) return std::to_string(*range.low);
  return fmt::format("{} to {}", range.low.value_or(0), *range.high);
}

std::string evidence_text(const Rule& rule) {
  if (!rule.evidence) return {};
  const Evidence& e = *rule.evidence;
  std::string text =
      fmt::format("{:.3g} us ({:.3g} to {:.3g}){}, {} rounds", e.median_us, e.ci95_us[0],
                  e.ci95_us[1], e.bytes != 0 ? fmt::format(" at {} bytes", e.bytes) : "", e.rounds);
  if (e.vs_builtin) {
    text += fmt::format("; the built-in choice took {:.2f} times as long", *e.vs_builtin);
  }
  if (!e.runner_up.empty()) text += fmt::format("; runner-up {}", e.runner_up);
  if (!e.runner_up.empty() && e.runner_up_ratio) {
    text += fmt::format(" took {:.2f} to {:.2f} times as long", (*e.runner_up_ratio)[0],
                        (*e.runner_up_ratio)[1]);
  }
  return text;
}

std::string to_text(const Rule& rule) {
  std::string text = fmt::format("{}: PEs {}, nodes {}, bytes {}, line ns {}, type {}, memory {}",
                                 name_of(rule.collective), to_text(rule.pes), to_text(rule.nodes),
                                 to_text(rule.bytes), to_text(rule.line_ns), to_text(rule.dtype),
                                 to_text(rule.memory));
  if (reduces(rule.collective)) {
    text += fmt::format(", op {}, contract {}", to_text(rule.op), to_text(rule.contract));
  }
  text += fmt::format("\n    runs {}\n", describe(*rule.algorithm, rule.params));
  const std::string evidence = evidence_text(rule);
  return text + fmt::format("    {}\n", evidence.empty() ? "no evidence" : evidence);
}

}  // namespace tutti::bench
