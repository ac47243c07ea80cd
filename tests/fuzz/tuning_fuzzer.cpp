// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzzer.hpp"
#include "fuzz/properties.hpp"
#include "unit/fake_algorithms.hpp"

/// The reader of tuning files.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace tutti;
  tests::end_on(tests::complaint_of_tuning(tests::text_of(data, bytes), fake::catalog()));
  return 0;
}
