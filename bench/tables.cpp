// SPDX-License-Identifier: Apache-2.0
#include "bench/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "bench/sized_name.hpp"
#include "tutti/tuning.hpp"

namespace tutti::bench {
namespace {

constexpr std::array kTables = {
    TableKind{"allreduce",
              "^allreduce/f32/sum/(private|inplace|symmetric)/auto/bytes:", "MPI / Tutti"},
    TableKind{"collectives",
              "^(allgather|reduce_scatter|broadcast|reduce|alltoall|gather|scatter)/f32/sum/"
              "private/auto/bytes:",
              "MPI / Tutti"},
    TableKind{"counts",
              "^(allgather|reduce_scatter|alltoall|gather|scatter)v/f32/sum/private/"
              "auto/bytes:",
              "MPI / Tutti, blocks as uneven as --help says"},
    TableKind{"halves", "^(allreduce|reduce_scatter)/(bf16|f16)/sum/private/auto/bytes:",
              "time / that of as many elements of f32"},
    TableKind{"primitives", "^(barrier|wait|decision|put|get)", "the other side / Tutti"},
};

/// The column of a benchmark, and its row: the size, or 0.
std::pair<std::string, std::uint64_t> place_of(std::string_view name) {
  constexpr std::string_view kAuto = "/auto";
  SizedName sized = sized_name(name);
  if (sized.kind.ends_with(kAuto)) sized.kind.remove_suffix(kAuto.size());
  return {std::string(sized.kind), sized.bytes};
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKi = 1024;
  if (bytes == 0) return "-";
  if (bytes % (kKi * kKi) == 0) return fmt::format("{} Mi", bytes / (kKi * kKi));
  if (bytes % kKi == 0) return fmt::format("{} Ki", bytes / kKi);
  return std::to_string(bytes);
}

std::string text_of(const TableCell& cell) {
  std::string text = time_text(cell.seconds);
  if (cell.ratio > 0) {
    text = fmt::format("{:.2f} [{:.2f}, {:.2f}]", cell.ratio, cell.low, cell.high);
  }
  return cell.wrong == 0 ? text : text + fmt::format(", {:.0f} WRONG", cell.wrong);
}

std::string_view regime_of_cell(const TableCell& cell) {
  return regime_of(static_cast<int>(std::lround(cell.line_ns)));
}

std::string table_of(std::span<const TableCell* const> cells) {
  std::vector<std::string> columns;
  std::map<std::uint64_t, std::map<std::string, std::string>> rows;
  double least = cells.front()->line_ns;
  double most = least;
  for (const TableCell* cell : cells) {
    auto [column, bytes] = place_of(cell->name);
    least = std::min(least, cell->line_ns);
    most = std::max(most, cell->line_ns);
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    rows[bytes][std::move(column)] = text_of(*cell);
  }
  const std::vector<std::string_view> dashes(columns.size() + 1, "---");
  std::string text =
      fmt::format("\n{}: line transfer {:.0f} to {:.0f} ns\n\n| bytes | {} |\n|{}|\n",
                  regime_of_cell(*cells.front()), least, most, fmt::join(columns, " | "),
                  fmt::join(dashes, "|"));
  for (auto& [bytes, row] : rows) {
    text += fmt::format("| {} |", size_text(bytes));
    for (const std::string& column : columns) text += fmt::format(" {} |", row[column]);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return fmt::format("{:.3f} ms", seconds * 1e3);
}

std::span<const TableKind> table_kinds() { return kTables; }

const TableKind* find_table(std::string_view name) {
  const auto found = std::ranges::find(kTables, name, &TableKind::name);
  return found == kTables.end() ? nullptr : &*found;
}

std::string markdown(std::string_view header, std::span<const TableCell> cells) {
  std::string text(header);
  text += '\n';
  for (const std::string_view regime : {"near", "mid", "far", "unknown"}) {
    std::vector<const TableCell*> mine;
    for (const TableCell& cell : cells) {
      if (regime_of_cell(cell) == regime) mine.push_back(&cell);
    }
    if (!mine.empty()) text += table_of(mine);
  }
  return text;
}

}  // namespace tutti::bench
