// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(TUTTI_CORPUS)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// Whatever the text: it is refused with its name and a place, or it is read, and then what is
/// written of it reads back as the same.
std::string complaint(const std::string& text) {
  Tuning tuning;
  try {
    tuning = parse_tuning(text, "t.json");
  } catch (const Error& error) {
    const bool placed = std::string_view(error.what()).starts_with("t.json:");
    return error.code() == ErrorCode::Tuning && placed ? "" : error.what();
  }
  try {
    const Tuning again = parse_tuning(to_json(tuning), "again.json");
    return again == tuning ? "" : "does not read back as itself";
  } catch (const Error& error) {
    return std::string("what was written is refused: ") + error.what();
  }
}

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& texts) : texts_(texts) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  void change(std::string& text) {
    if (text.empty()) text = "{";
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(24, text.size() - at));
    const std::string& other = texts_[below(texts_.size())];
    const std::size_t from = below(other.size());
    switch (below(7)) {
      case 0:  // another byte
        text[at] = static_cast<char>(below(256));
        break;
      case 1:  // less
        text.erase(at, length);
        break;
      case 2:  // again
        text.insert(at, text.substr(at, length));
        break;
      case 3:  // a piece of another file
        text.insert(at, other.substr(from, length));
        break;
      case 4:  // another word
        text.insert(at, kWords[below(kWords.size())]);
        break;
      case 5:  // another number where there was one
        replace_number(text, at);
        break;
      default:  // the end of another file
        text = text.substr(0, at) + other.substr(from);
    }
  }

  void replace_number(std::string& text, std::size_t from) {
    const std::size_t first = text.find_first_of("0123456789", from);
    if (first == std::string::npos) return;
    const std::size_t last = text.find_first_not_of("0123456789.eE+-", first);
    text.replace(first, std::min(last, text.size()) - first, kNumbers[below(kNumbers.size())]);
  }

  static constexpr std::array<std::string_view, 14> kWords = {
      "null", "true", "{}",        "[]",       "\"\"",    "\\u0000", "\xC3\xA9",
      ",",    ":",    "[[[[[[[[[", "\"pes\":", "\"64K\"", "-",       "\xEF\xBB\xBF"};
  static constexpr std::array<std::string_view, 12> kNumbers = {"0",
                                                                "-0",
                                                                "-1",
                                                                "1e3",
                                                                "1.0",
                                                                "18446744073709551615",
                                                                "18446744073709551616",
                                                                "1e999",
                                                                "00",
                                                                "2.",
                                                                "1e-320",
                                                                "9007199254740993"};

  const std::vector<std::string>& texts_;
  std::mt19937 random_{20260131};
};

/// A fuzzer with a fixed seed over a kept corpus: a few seconds, more with TUTTI_TEST_FULL=1.
TEST(TunerFuzz, whatever_a_file_holds_it_is_refused_with_a_place_or_reads_back_as_itself) {
  const std::vector<std::string> texts = corpus();
  ASSERT_GT(texts.size(), 50u) << TUTTI_CORPUS;
  for (const std::string& text : texts) ASSERT_EQ(complaint(text), "") << text;
  const char* full = std::getenv("TUTTI_TEST_FULL");
  const int rounds = full != nullptr && *full == '1' ? 4'000'000 : 150'000;
  Mutator mutator(texts);
  for (int i = 0; i < rounds; ++i) {
    const std::string text = mutator.next();
    ASSERT_EQ(complaint(text), "") << "round " << i << ":\n" << text;
  }
}

}  // namespace
}  // namespace tutti::tests
