// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(TUTTI_SOURCE_DIR) + "/docs/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string row_of(const Algorithm& algorithm) {
  std::string parameters;
  for (const Parameter& p : algorithm.parameters) {
    parameters += (parameters.empty() ? "" : " ") + std::string(p.name);
  }
  return "| " + std::string(name_of(algorithm.collective)) + " | " + algorithm.name + " | " +
         (algorithm.keeps_ordered ? "consistent, ordered" : "consistent") + " | " +
         (parameters.empty() ? "-" : parameters) + " | " + algorithm.summary;
}

TEST(Docs, the_table_of_algorithms_is_the_registries) {
  const std::string page = text_of("algorithms.md");
  std::size_t rows = 0;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    for (const Algorithm* algorithm : algorithms(static_cast<Collective>(c))) {
      EXPECT_THAT(page, ::testing::HasSubstr(row_of(*algorithm)));
      ++rows;
    }
  }
  std::size_t lines = 0;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    const std::string begin = "\n| " + std::string(name_of(static_cast<Collective>(c))) + " | ";
    for (std::size_t at = page.find(begin); at != std::string::npos;
         at = page.find(begin, at + 1)) {
      ++lines;
    }
  }
  EXPECT_EQ(lines, rows) << "docs/algorithms.md lists an algorithm that no registry has";
}

TEST(Docs, names_in_a_registry_are_unique_and_every_parameter_is_explained) {
  const std::string page = text_of("algorithms.md");
  for (std::size_t c = 0; c < kCollectives; ++c) {
    std::set<std::string> names;
    for (const Algorithm* algorithm : algorithms(static_cast<Collective>(c))) {
      EXPECT_TRUE(names.insert(algorithm->name).second) << algorithm->name;
      for (const Parameter& p : algorithm->parameters) {
        EXPECT_THAT(page, ::testing::HasSubstr("\n| " + std::string(p.name) + " |"));
        EXPECT_LE(p.min, p.initial);
        EXPECT_LE(p.initial, p.max);
      }
    }
  }
}

}  // namespace
}  // namespace tutti
