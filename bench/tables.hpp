// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::bench {

/// A table of docs/performance.md: which benchmarks are its cells.
struct TableKind {
  std::string_view name;
  std::string_view filter;   ///< a regular expression of `--benchmark_filter`
  std::string_view summary;  ///< what stands in a cell
};
std::span<const TableKind> table_kinds();
/// nullptr if there is none of that name.
const TableKind* find_table(std::string_view name);

/// One measured benchmark of a table.
struct TableCell {
  std::string name;  ///< "allreduce/f32/sum/private/auto/bytes:4096"
  double seconds = 0;
  double line_ns = 0;
  double wrong = 0;
  /// What is compared: MPI's time / this one's, or this one's / that of f32; 0: there is none.
  double ratio = 0;
  double low = 0;
  double high = 0;
};

/// Tables in Markdown, one a regime, since regimes are never mixed: a row a size, a column a kind.
std::string markdown(std::string_view header, std::span<const TableCell> cells);

/// "1.23 us"
std::string time_text(double seconds);

}  // namespace tutti::bench
