// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

/// The examples check themselves: a wrong value ends the program with exit code 1.
template <class T>
void expect_equal(const T& got, const T& expected, const std::string& what) {
  if (got == expected) return;
  throw std::runtime_error(what + ": got " + std::to_string(got) + ", expected " +
                           std::to_string(expected));
}
