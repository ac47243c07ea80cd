// SPDX-License-Identifier: Apache-2.0
#include "primitives/control.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::detail {

void SharedText::set(std::string_view text) noexcept {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::uint64_t bits = 0;
    const std::size_t at = i * sizeof bits;
    if (at < text.size()) std::memcpy(&bits, &text[at], std::min(sizeof bits, text.size() - at));
    words_[i].store(bits, std::memory_order_relaxed);
  }
}

void FailureText::set(ErrorCode code, std::string_view text, int origin_pe) noexcept {
  text_.set(text);
  const auto origin = static_cast<std::uint64_t>(origin_pe + 1);
  head_.store(origin << 8 | static_cast<std::uint64_t>(code), std::memory_order_release);
}

std::string SharedText::get() const {
  std::string text(words_.size() * sizeof(std::uint64_t), '\0');
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t bits = words_[i].load(std::memory_order_relaxed);
    std::memcpy(&text[i * sizeof bits], &bits, sizeof bits);
  }
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

}  // namespace tutti::detail
