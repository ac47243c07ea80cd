// SPDX-License-Identifier: Apache-2.0
#include "tutti/version.hpp"

namespace tutti {

std::string_view version() noexcept { return TUTTI_VERSION; }

}  // namespace tutti
