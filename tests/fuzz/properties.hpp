// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "collectives/tuner/catalog.hpp"

/// What must hold of any text at all. Each function says what does not hold, or nothing.
namespace tutti::tests {

/// A tuning file is refused with name, line, column and path, or it is read; then every
/// number is in its range, and what is written of it reads back as the same and decides alike.
std::string complaint_of_tuning(std::string_view text, const detail::Catalog& catalog);

/// A value of TUTTI_ALGORITHM is refused in one line that names it, or its choices, written with
/// all parameters, read back as the same.
std::string complaint_of_choices(std::string_view text, const detail::Catalog& catalog);

}  // namespace tutti::tests
