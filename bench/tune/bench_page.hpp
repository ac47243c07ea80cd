// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/tune/bench_json.hpp"

namespace tutti::bench {

/// The page of `report_page` about results of tutti-bench: for each kind of collective and regime
/// time against size for all algorithms and MPI, the ratio to MPI and the percentage of the bound.
/// What has no size, or another one than bytes, is left out.
/// Errors: `Unsupported` in a build without Chart.js.
std::string bench_page(const BenchFile& file, const std::string& title);

/// What the page draws.
std::string bench_page_data(const BenchFile& file, const std::string& title);

}  // namespace tutti::bench
