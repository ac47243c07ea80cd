// SPDX-License-Identifier: Apache-2.0
#include "primitives/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Text, sizes_are_powers_of_1024) {
  EXPECT_EQ(parse_bytes("TUTTI_HEAP", "0"), 0u);
  EXPECT_EQ(parse_bytes("TUTTI_HEAP", "4097"), 4097u);
  EXPECT_EQ(parse_bytes("TUTTI_HEAP", "64K"), 65536u);
  EXPECT_EQ(parse_bytes("TUTTI_HEAP", "256M"), 268435456u);
  EXPECT_EQ(parse_bytes("TUTTI_HEAP", "3G"), 3221225472u);
  EXPECT_EQ(parse_bytes("TUTTI_HEAP", "2T"), 2199023255552u);
}

TEST(Text, sizes_that_do_not_fit_64_bits_are_refused) {
  EXPECT_EQ(read_size("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read_size("16777215T"), 16777215ull << 40);
  EXPECT_FALSE(read_size("18446744073709551616"));
  EXPECT_FALSE(read_size("16777216T"));
}

TEST(Text, other_forms_of_sizes_are_refused) {
  for (const char* text : {"", "K", "-1", "+1", " 1", "1 ", "1.5K", "1e3", "64k", "64KB", "64KiB",
                           "0x10", "64 K", "1,000"}) {
    EXPECT_FALSE(read_size(text)) << text;
  }
}

TEST(Text, a_bad_size_names_variable_value_and_rule) {
  try {
    parse_bytes("TUTTI_HEAP", "64kB");
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("TUTTI_HEAP='64kB'"), HasSubstr("K, M, G, T")));
  }
}

TEST(Text, durations_are_seconds_unless_they_say_otherwise) {
  EXPECT_EQ(parse_duration("TUTTI_TIMEOUT", "30"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("TUTTI_TIMEOUT", "30s"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("TUTTI_TIMEOUT", "500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("TUTTI_TIMEOUT", "2m"), milliseconds(120'000));
  EXPECT_EQ(parse_duration("TUTTI_TIMEOUT", "8760h"), milliseconds(31'536'000'000));
  EXPECT_EQ(parse_duration("TUTTI_TIMEOUT", "0"), milliseconds(0));
}

TEST(Text, a_bad_duration_names_variable_value_and_rule) {
  for (const char* text : {"", "s", "-1s", "1.5s", "30S", "30 s", "30us", "8761h", "soon"}) {
    try {
      parse_duration("TUTTI_TIMEOUT", text);
      ADD_FAILURE() << text << " is not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr("TUTTI_TIMEOUT='" + std::string(text) + "'"));
      EXPECT_THAT(error.what(), HasSubstr("ms, m (minutes)"));
    }
  }
}

TEST(Text, size_text_is_the_shortest_that_reads_back) {
  EXPECT_EQ(size_text(0), "0");
  EXPECT_EQ(size_text(1023), "1023");
  EXPECT_EQ(size_text(1024), "1K");
  EXPECT_EQ(size_text(65537), "65537");
  EXPECT_EQ(size_text(std::size_t{1536} << 10), "1536K");
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 50); bytes = bytes * 3 - 1) {
    EXPECT_EQ(read_size(size_text(bytes)), bytes);
    if (bytes == 1) bytes = 2;
  }
}

TEST(Text, in_quotes_hides_control_characters_and_cuts) {
  EXPECT_EQ(in_quotes("a\n\x1b[31m"), "'a??[31m'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Text, numbers_are_whole_and_in_their_range) {
  EXPECT_EQ(read_number("1", 1, 64), 1);
  EXPECT_EQ(read_number("64", 1, 64), 64);
  EXPECT_EQ(read_number("-3", -5, 5), -3);
  for (const char* wrong : {"", "0", "65", "4 ", " 4", "4x", "+4", "4.0", "99999999999"}) {
    EXPECT_EQ(read_number(wrong, 1, 64), std::nullopt) << wrong;
  }
}

TEST(Text, split_trims_its_parts_and_keeps_empty_ones) {
  using ::testing::ElementsAre;
  EXPECT_THAT(split(" a ; b;;c c ", ';'), ElementsAre("a", "b", "", "c c"));
  EXPECT_THAT(split("", ';'), ElementsAre(""));
  EXPECT_THAT(split("   ", ';'), ElementsAre(""));
}

}  // namespace
}  // namespace tutti::detail
