// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tutti/tuning.hpp"

namespace tutti::bench {

/// One HTML page about a file, complete in itself: for each kind of problem time against size with
/// intervals for every algorithm, in a cycle that the reader chooses, the winners, the ratio to MPI
/// and the percentage of the bound; the rules with their evidence; the machine. `title` is the
/// file's name. Errors: `Unsupported` in a build without Chart.js.
std::string report_page(const Tuning& file, const std::string& title);

/// What the page draws, as JSON that is safe inside a script element.
std::string report_data(const Tuning& file, const std::string& title);

/// The page around such data. Errors: as `report_page`.
std::string page_with(std::string_view data);
/// JSON text with nothing in it that could end the script element.
std::string safe_in_script(std::string json);

}  // namespace tutti::bench
