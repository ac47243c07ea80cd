// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>

namespace tutti::bench {

/// Google Benchmark's reporters with two changes: the times are those that our engine measured
/// (its own clock saw one call of a cached result), and names carry no suffixes.

/// A table for people: one row a cell.
std::unique_ptr<benchmark::BenchmarkReporter> table_reporter(std::string header);
/// The tables of `markdown`, at the end.
std::unique_ptr<benchmark::BenchmarkReporter> markdown_reporter(std::string header);
/// The JSON that Google Benchmark writes.
std::unique_ptr<benchmark::BenchmarkReporter> json_reporter();

}  // namespace tutti::bench
