// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>

namespace tutti {

/// In place of a PE: all PEs of the team, my own included. Only `signal` takes it.
inline constexpr int kAllPes = -1;

/// How to compare a word (left) with a value (right). Converts from and to nothing.
enum class Cmp : std::uint8_t { Eq, Ne, Gt, Ge, Lt, Le };

/// How to change memory or a word. Two types, so that what takes one does not compile with the
/// other: a signal has one writer, who sets it; a counter has many, who add to it.
struct Update {
  struct SetTag {};
  struct AddTag {};
  static constexpr SetTag Set{};
  static constexpr AddTag Add{};
};

/// The receipt of an operation. Given as `after` to a later operation of the same PE, that one
/// takes effect after this one has; otherwise it may be thrown away.
class Token {
 public:
  /// Of something that is complete.
  constexpr Token() = default;

  static constexpr int kDone = -1;
  static constexpr int kSeveral = -2;
  constexpr explicit Token(int world_pe) noexcept : world_pe_(world_pe) {}
  /// The PE of the job where the operation may still have to take effect, or one of the above.
  constexpr int world_pe() const noexcept { return world_pe_; }

 private:
  int world_pe_ = kDone;
};

template <class T>
concept OneToken = std::same_as<T, Token>;

namespace detail {

enum class WordUpdate : std::uint8_t { Set, Add };

/// Tokens given as trailing arguments.
template <std::size_t kCount>
struct Tokens {
  std::array<Token, kCount> list;
  operator std::span<const Token>() const noexcept {  // NOLINT(google-explicit-constructor)
    return {list.data(), kCount};
  }
};
template <OneToken... After>
Tokens<sizeof...(After)> tokens(const After&... after) noexcept {
  return {{after...}};
}

}  // namespace detail
}  // namespace tutti
