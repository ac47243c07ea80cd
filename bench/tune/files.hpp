// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tutti::bench {

/// All of a file. Errors: `InvalidArgument` with its name and the system's reason.
std::string read_file(const std::string& path);

/// Whether there is something at the path that cannot be replaced: a pipe, a terminal, a device.
bool is_stream(const std::string& path);

/// Replaces a file by rename, so that there is never half of it; a stream is written directly.
/// Errors: `System` with the file's name and the system's reason.
void write_file(const std::string& path, std::string_view text);

}  // namespace tutti::bench
