// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "fuzz/properties.hpp"
#include "unit/fake_algorithms.hpp"

namespace tutti::tests {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(TUTTI_TESTS "/" + folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

template <class Complaint>
void check(const std::vector<fs::path>& paths, Complaint&& complaint) {
  const detail::Catalog real = detail::builtin_catalog();
  for (const fs::path& path : paths) {
    const std::string text = text_of(path);
    EXPECT_EQ(complaint(text, fake::catalog()), "") << path << ":\n" << text;
    EXPECT_EQ(complaint(text, real), "") << path << ", with the library's algorithms:\n" << text;
  }
}

/// What the fuzzers' corpus found once stays found, without a fuzzer and with the compiler at hand.
TEST(TunerCorpus, whatever_a_file_holds_it_is_refused_with_a_place_or_reads_back_as_itself) {
  const std::vector<fs::path> fixtures = files_in("tune/corpus");
  const std::vector<fs::path> found = files_in("fuzz/corpus/tuning");
  ASSERT_GT(fixtures.size(), 50u);
  ASSERT_GT(found.size(), 50u);
  check(fixtures, complaint_of_tuning);
  check(found, complaint_of_tuning);
}

TEST(TunerCorpus, whatever_the_variable_holds_it_is_refused_or_reads_back_as_itself) {
  const std::vector<fs::path> found = files_in("fuzz/corpus/choice");
  ASSERT_GT(found.size(), 20u);
  check(found, complaint_of_choices);
}

}  // namespace
}  // namespace tutti::tests
