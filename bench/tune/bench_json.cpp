// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/bench_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/sized_name.hpp"
#include "tutti/error.hpp"

namespace tutti::bench {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kUsualRounds = 15;

double unit_in_us(const std::string& unit) {
  if (unit == "ns") return 1e-3;
  if (unit == "us") return 1;
  return unit == "ms" ? 1e3 : 1e6;
}

/// "collective/type/op/memory/algorithm/bytes:N"; other names are kinds of their own.
void split_name(BenchRow& row) {
  const SizedName sized = sized_name(row.name);
  row.kind = sized.kind;
  row.bytes = sized.bytes;
  if (!sized.has_size) return;
  if (std::ranges::count(row.kind, '/') != 4) return;
  const std::size_t algorithm = row.kind.rfind('/');
  row.algorithm = row.kind.substr(algorithm + 1);
  row.kind.resize(algorithm);
}

BenchRow row_of(const Json& json) {
  const auto number = [&](const char* key) { return json.value(key, 0.0); };
  BenchRow row;
  row.name = json.at("name").get<std::string>();
  const double median =
      json.at("real_time").get<double>() * unit_in_us(json.at("time_unit").get<std::string>());
  row.us = {median, number("time_lo") * 1e6, number("time_hi") * 1e6};
  if (const double ratio = number("vs_mpi"); ratio > 0) {
    const double mpi = number("mpi_us");
    row.mpi_us = {mpi, mpi * number("vs_mpi_lo") / ratio, mpi * number("vs_mpi_hi") / ratio};
  }
  row.line_ns = number("line_ns");
  row.bound_us = number("bound_pct") / 100 * median;
  row.wrong = static_cast<std::size_t>(number("wrong"));
  row.dropped = static_cast<std::size_t>(number("dropped"));
  row.ran = json.value("label", "");
  split_name(row);
  return row;
}

}  // namespace

BenchFile read_bench(std::string_view json, std::string_view name) {
  BenchFile file;
  try {
    const Json document = Json::parse(json);
    const Json& context = document.at("context");
    file.machine = context.value("machine", "");
    file.date = context.value("date", "");
    file.cycle = context.value("cycle", "");
    // Google Benchmark writes what a program adds to the context as strings.
    file.pes = std::stoi(context.value("pes", "0"));
    file.rounds = std::stoul(context.value("rounds", std::to_string(kUsualRounds)));
    for (const Json& row : document.at("benchmarks")) {
      if (row.contains("time_lo")) file.rows.push_back(row_of(row));
    }
  } catch (const std::exception& error) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: neither a tuning file nor a result of tutti-bench: {}", name,
                            error.what()));
  }
  return file;
}

}  // namespace tutti::bench
