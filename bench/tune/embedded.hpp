// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Files that CMake compiled into the program (cmake/embed.cmake).
namespace tutti::bench::embedded {

std::string_view page();           ///< report_page.html
std::string_view chart_library();  ///< Chart.js; empty in a build without it
std::string_view chart_licence();

}  // namespace tutti::bench::embedded
