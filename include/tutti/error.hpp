// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// What went wrong. The text of an `Error` names the values, the allowed range, the team, the
/// operation, the call number and the PEs concerned.
enum class ErrorCode : std::uint8_t {
  InvalidArgument,  ///< refused before any data moved
  Mismatch,         ///< PEs of one team made different calls
  PeerFailed,       ///< a PE died, threw or refused its arguments
  Timeout,          ///< a deadline passed
  OutOfMemory,      ///< agreed: the same on all PEs of the call
  Poisoned,         ///< not thrown now: calls on a team that failed carry the first error's code
  Unsupported,      ///< no algorithm, no transport, or no library for this
  Tuning,           ///< a tuning file or rule is wrong
  System,           ///< the operating system refused
};

TUTTI_API std::string_view name_of(ErrorCode code) noexcept;

/// The only exception type that Tutti throws on purpose.
class TUTTI_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tutti
