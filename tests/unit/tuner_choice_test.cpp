// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "collectives/tuner/catalog.hpp"
#include "collectives/tuner/choice.hpp"
#include "fake_algorithms.hpp"
#include "tutti/error.hpp"
#include "tutti/tuning.hpp"

namespace tutti::detail {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

template <class Call>
std::string refusal(Call&& call, ErrorCode code = ErrorCode::Tuning) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "not refused";
}

TEST(TunerForced, reads_every_part_of_the_form) {
  const std::vector<Forced> forced = parse_forced(
      " allreduce = two_shot : chunk_bytes = 64K ; allgather=ring;", "X", fake::catalog());
  ASSERT_EQ(forced.size(), 2u);
  EXPECT_EQ(forced[0].algorithm, &fake::kTwoShot);
  EXPECT_EQ(forced[0].params[0], 65536);
  EXPECT_EQ(forced[1].collective, Collective::Allgather);
  EXPECT_EQ(forced[1].algorithm, &fake::kAllgatherRing);
  EXPECT_THAT(parse_forced("", "X", fake::catalog()), IsEmpty());
}

TEST(TunerForced, describes_what_it_reads) {
  const Forced forced =
      parse_choice(Collective::Allreduce, "one_shot:store=stream,bias=-3", "X", fake::catalog());
  const std::string text = tutti::describe(*forced.algorithm, forced.params);
  EXPECT_EQ(text, "one_shot:slots=2,chunk_bytes=65536,store=stream,bias=-3,lag=0");
  EXPECT_EQ(parse_choice(Collective::Allreduce, text, "X", fake::catalog()), forced);
}

TEST(TunerForced, refuses_everything_else) {
  const auto why = [](const char* text) {
    return refusal([&] { parse_forced(text, "TUTTI_ALGORITHM", fake::catalog()); });
  };
  EXPECT_THAT(why("ring"), StartsWith("TUTTI_ALGORITHM: 'ring' names no collective; the form is"));
  EXPECT_THAT(why("ring:chunk_bytes=1K"), HasSubstr("names no collective"));
  EXPECT_THAT(why("allreduc=ring"), HasSubstr("did you mean 'allreduce'?"));
  EXPECT_THAT(why("allreduce=rings"), HasSubstr("did you mean 'ring'?"));
  EXPECT_THAT(why("allreduce="), HasSubstr("unknown algorithm of allreduce ''"));
  EXPECT_THAT(why("allreduce=ring;allreduce=ring"), HasSubstr("allreduce is given twice"));
  EXPECT_THAT(why("allreduce=one_shot:slots=1,slots=2"), HasSubstr("slots is given twice"));
  EXPECT_THAT(why("allreduce=one_shot:slot=1"), HasSubstr("did you mean 'slots'?"));
  EXPECT_THAT(why("allreduce=one_shot:"), HasSubstr("'' has no '='"));
  EXPECT_THAT(why("allreduce=one_shot:slots"), HasSubstr("'slots' has no '='"));
  EXPECT_THAT(why("allreduce=one_shot:slots=65"),
              HasSubstr("one_shot.slots: 65 is out of range; allowed: 1 to 64"));
  EXPECT_THAT(why("allreduce=one_shot:slots=1K"), HasSubstr("'1K': not a whole number"));
  EXPECT_THAT(why("allreduce=one_shot:chunk_bytes=4294967297"), HasSubstr("is out of range"));
  EXPECT_THAT(why("allreduce=one_shot:store=strem"), HasSubstr("did you mean 'stream'?"));
}

TEST(TunerCatalog, refuses_descriptors_that_are_wrong) {
  constexpr std::array kTwice = {Parameter{"slots", 0, 1, 0, "", {}},
                                 Parameter{"slots", 0, 1, 0, "", {}}};
  constexpr std::array kOutside = {Parameter{"slots", 1, 2, 3, "", {}}};
  constexpr std::array kChoices = {Parameter{"store", 0, 2, 0, "", fake::kStores}};
  const auto why = [](auto change) {
    Algorithm algorithm = fake::kRing;
    algorithm.name = "mine";
    change(algorithm);
    Catalog catalog(fake::kAll);
    return refusal([&] { catalog.add(algorithm); }, ErrorCode::InvalidArgument);
  };
  EXPECT_EQ(why([](Algorithm&) {}), "not refused");
  EXPECT_THAT(why([](Algorithm& a) { a.name = "ring"; }), HasSubstr("two algorithms ring"));
  EXPECT_THAT(why([](Algorithm& a) { a.name = "My-Ring"; }), HasSubstr("snake_case"));
  EXPECT_THAT(why([](Algorithm& a) { a.traffic = nullptr; }), HasSubstr("is missing"));
  EXPECT_THAT(why([&](Algorithm& a) { a.parameters = kTwice; }), HasSubstr("named slots"));
  EXPECT_THAT(why([&](Algorithm& a) { a.parameters = kOutside; }), HasSubstr("1, 3, 2"));
  EXPECT_THAT(why([&](Algorithm& a) { a.parameters = kChoices; }), HasSubstr("2 choices"));
}

}  // namespace
}  // namespace tutti::detail
