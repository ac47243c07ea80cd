// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "primitives/transport.hpp"
#include "tutti/team.hpp"

namespace tutti::detail {

class World;

/// A transport among threads of one process, to test everything that happens when peers are not
/// reached by load and store. Messages wait in the target's inbox until the target progresses;
/// which of them takes effect next is random from a seed, within the order that `Transport` allows.
std::unique_ptr<Transport> make_loopback(World& world, std::uint64_t seed,
                                         const Allgather& allgather);

}  // namespace tutti::detail
