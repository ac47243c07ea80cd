// SPDX-License-Identifier: Apache-2.0
#include "bench/cells.hpp"

#include <array>
#include <string>

namespace tutti::bench {
namespace {

constexpr std::size_t kSmallest = 8;
constexpr std::size_t kLargest = std::size_t{64} << 20;

struct Kind {
  DType dtype;
  Op op;
};
constexpr std::array<Kind, 6> kKinds = {{{DType::F32, Op::Sum},
                                         {DType::BF16, Op::Sum},
                                         {DType::F16, Op::Sum},
                                         {DType::F64, Op::Sum},
                                         {DType::I32, Op::Max},
                                         {DType::U8, Op::Min}}};

/// `algorithm`: nullptr for the tuner's choice. Sizes that it cannot do have no benchmark.
void add_sizes(std::vector<NamedCell>& all, const Team& team, Cell cell,
               const Algorithm* algorithm) {
  // Where nothing is reduced the op stays in the name, so that all names have the same parts.
  std::string stem;
  for (const std::string_view part :
       {name_of(cell.collective), name_of(cell.dtype), name_of(cell.op), name_of(cell.placement)}) {
    stem += std::string(part) + '/';
  }
  const std::string name = algorithm == nullptr ? "" : algorithm->name;
  stem += name.empty() ? "auto" : name;
  std::size_t last = 0;
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 2) {
    cell.bytes = bytes;
    cell.bytes = whole_bytes(cell, team.size());
    if (cell.bytes == last) continue;  // one element a PE again
    last = cell.bytes;
    if (algorithm != nullptr && algorithm->supports(problem_of(cell, team, 0)) != nullptr) continue;
    all.push_back({stem + "/bytes:" + std::to_string(cell.bytes), name, cell});
  }
}

}  // namespace

std::vector<NamedCell> all_cells(const Team& team, Cycle cycle) {
  std::vector<NamedCell> all;
  for (std::size_t c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Kind& kind : kKinds) {
      for (const Placement placement :
           {Placement::Private, Placement::InPlace, Placement::Symmetric}) {
        if (placement == Placement::InPlace && !can_be_in_place(collective)) continue;
        Cell cell;
        cell.collective = collective;
        cell.dtype = kind.dtype;
        cell.op = kind.op;
        cell.placement = placement;
        cell.cycle = cycle;
        add_sizes(all, team, cell, nullptr);
        for (const Algorithm* algorithm : algorithms(collective)) {
          add_sizes(all, team, cell, algorithm);
        }
      }
    }
  }
  return all;
}

std::string chosen(const Team& team, const Cell& cell, const std::string& algorithm) {
  const Problem problem = problem_of(cell, team, 0);
  if (!algorithm.empty()) {
    const Forced forced = parse_choice(cell.collective, algorithm, "benchmark");
    return describe(*forced.algorithm, forced.params);
  }
  const Explanation said = explain(team, problem);
  return describe(*said.algorithm, said.params) + " (" + std::string(name_of(said.where)) + ")";
}

std::string why(const Team& team, const Cell& cell) {
  return to_string(explain(team, problem_of(cell, team, 0)));
}

}  // namespace tutti::bench
