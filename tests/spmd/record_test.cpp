// SPDX-License-Identifier: Apache-2.0
// What a call says that it ran is what it ran: every algorithm of the registries, in every cell of
// the grid, with a body that notes that it was entered; insisted on, and chosen by a tuning file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "support/collective_grid.hpp"
#include "support/seen_algorithms.hpp"
#include "support/worlds.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tests {
namespace {

/// Collective: from now on the team's file has one rule, which chooses the cell's algorithm with
/// its parameters.
void choose_by_file(Team& team, const Cell& cell, const std::string& path) {
  Tuning tuning;
  Rule rule;
  rule.collective = cell.algorithm->collective;
  rule.algorithm = cell.algorithm;
  const Algorithm* const extra[] = {cell.algorithm};
  rule.params =
      parse_choice(rule.collective, cell.algorithm->name + cell.parameters, "test", extra).params;
  tuning.rules = {rule};
  if (team.pe() == 0) write_tuning(path, tuning);
  load_tuning(team, path, true);
}

using RecordCase = std::tuple<const Algorithm*, int>;

class Record : public ::testing::TestWithParam<RecordCase> {
 protected:
  void check(const Options& options) {
    const auto& [algorithm, pes] = GetParam();
    const std::string path = ::testing::TempDir() + "tutti_record_" + algorithm->name + '_' +
                             std::to_string(getpid()) + ".json";
    std::size_t ran = 0;
    run(
        pes,
        [&, algorithm = algorithm](Team& team) {
          std::size_t call = 0;
          std::string in_file = "none";
          for (const Cell& cell : cells_of(*algorithm, team.size(), !options.loopback)) {
            if (cell.parameters != in_file) choose_by_file(team, cell, path);
            in_file = cell.parameters;
            const bool done = check_cell(team, cell, !options.loopback, call);
            if (::testing::Test::HasFailure()) break;
            if (!done) continue;
            // The open call was the cell's last.
            EXPECT_EQ(bodies_entered().size(), 1u)
                << to_string(cell) << ": the file was not followed";
            if (team.pe() == 0) ++ran;
          }
        },
        options);
    std::filesystem::remove(path);
    if (ran == 0) GTEST_SKIP() << algorithm->name << " supports none of its cells here";
  }
};

std::string name_of_case(const ::testing::TestParamInfo<RecordCase>& info) {
  const Algorithm* algorithm = std::get<0>(info.param);
  return std::string(name_of(algorithm->collective)) + "_" + algorithm->name + "_pes" +
         std::to_string(std::get<1>(info.param));
}

TEST_P(Record, names_the_body_that_ran_by_load_and_store) {
  check({.follow_regime = false, .extra_algorithms = seen_algorithms()});
}

TEST_P(Record, names_the_body_that_ran_when_every_peer_is_unreachable) {
  check({.follow_regime = false, .extra_algorithms = seen_algorithms(), .loopback = true});
}

INSTANTIATE_TEST_SUITE_P(Registry, Record,
                         ::testing::Combine(::testing::ValuesIn(seen_algorithms()),
                                            ::testing::Values(2, 3)),
                         name_of_case);

}  // namespace
}  // namespace tutti::tests
