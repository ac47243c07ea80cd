// SPDX-License-Identifier: Apache-2.0
#include "primitives/control.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::detail {

void FailureText::set(ErrorCode code, std::string_view text, int origin_pe) noexcept {
  for (std::size_t i = 1; i < words_.size(); ++i) {
    std::uint64_t bits = 0;
    const std::size_t at = (i - 1) * sizeof bits;
    if (at < text.size()) std::memcpy(&bits, &text[at], std::min(sizeof bits, text.size() - at));
    words_[i].store(bits, std::memory_order_relaxed);
  }
  const auto origin = static_cast<std::uint64_t>(origin_pe + 1);
  words_[0].store(origin << 8 | static_cast<std::uint64_t>(code), std::memory_order_release);
}

std::string FailureText::text() const {
  std::string text((words_.size() - 1) * sizeof(std::uint64_t), '\0');
  for (std::size_t i = 1; i < words_.size(); ++i) {
    const std::uint64_t bits = words_[i].load(std::memory_order_relaxed);
    std::memcpy(&text[(i - 1) * sizeof bits], &bits, sizeof bits);
  }
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

}  // namespace tutti::detail
