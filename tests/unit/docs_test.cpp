// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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
         (algorithm.keeps_ordered ? "consistent, ordered"
          : algorithm.keeps_order ? "consistent, left to right"
                                  : "consistent") +
         " | " + (parameters.empty() ? "-" : parameters) + " | " + algorithm.summary;
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

/// All parts of `text` that match.
std::vector<std::string> all_in(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.push_back(at->str());
  }
  return found;
}

std::string public_headers(const std::string& beginning) {
  std::string text;
  const std::string folder = std::string(TUTTI_SOURCE_DIR) + "/include/tutti";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with(beginning)) continue;
    std::ifstream in(entry.path());
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  return text;
}

/// The code in the Tutti columns (all but the first and the last) of the rows of a page's tables.
std::string tutti_columns(const std::string& page) {
  std::string code;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.find('`') == std::string::npos) continue;
    const std::size_t first = line.find(" |"), last = line.rfind(" | ");
    if (first >= last) continue;
    for (const std::string& span : all_in(line.substr(first, last - first), "`[^`]*`"))
      code += span;
  }
  return code;
}

TEST(Docs, every_tutti_name_on_the_porting_page_is_in_the_public_headers) {
  constexpr const char* kName = "[A-Za-z_][A-Za-z_0-9]*";
  std::set<std::string> known;
  for (const std::string& name : all_in(public_headers(""), kName)) known.insert(name);
  const std::vector<std::string> names = all_in(tutti_columns(text_of("porting.md")), kName);
  for (const std::string& name : names) EXPECT_TRUE(known.contains(name)) << name;
  EXPECT_GT(names.size(), 200u) << "the tables are not found any more";
}

TEST(Docs, every_function_of_the_seeds_names_is_on_the_porting_page) {
  const std::string page = text_of("porting.md");
  std::set<std::string> functions;
  for (const std::string& call :
       all_in(public_headers("pypto"), "(shmem|create_shmem|my_symbolic)_[a-z_]+\\(")) {
    functions.insert(call.substr(0, call.size() - 1));
  }
  EXPECT_EQ(functions.size(), 13u);
  for (const std::string& name : functions) {
    EXPECT_NE(page.find("\n| `" + name + "`"), std::string::npos) << name;
  }
}

/// "Suite.name" of every test in the sources.
std::set<std::string> all_tests() {
  std::set<std::string> names;
  const std::regex test("TEST(_P|_F)?\\(\\s*(\\w+),\\s*(\\w+)\\s*\\)");
  const std::string folder = std::string(TUTTI_SOURCE_DIR) + "/tests";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
      names.insert(at->str(2) + "." + at->str(3));
    }
  }
  return names;
}

TEST(Docs, every_test_named_by_a_field_report_exists_and_every_report_has_one_or_a_reason) {
  const std::set<std::string> tests = all_tests();
  std::istringstream lines(text_of("field_reports.md"));
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> named = all_in(line, "`[A-Z]\\w+\\.[a-z]\\w+`");
    for (const std::string& name : named) {
      EXPECT_TRUE(tests.contains(name.substr(1, name.size() - 2))) << name;
    }
    if (!line.starts_with("| B")) continue;
    ++rows;
    EXPECT_TRUE(!named.empty() || line.find("not here: ") != std::string::npos) << line;
  }
  EXPECT_EQ(rows, 47U);
}

}  // namespace
}  // namespace tutti
