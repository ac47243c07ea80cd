// SPDX-License-Identifier: Apache-2.0
#include "tutti/version.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

TEST(Version, library_and_headers_agree) {
  const std::string headers = std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor) +
                              "." + std::to_string(kVersionPatch);
  EXPECT_EQ(version(), headers);
}

}  // namespace
}  // namespace tutti
