// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "tutti/tutti.hpp"

// A program as users write it, for launch_test.sh: what `launch` does under mpirun and without.
int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "sum";
  return tutti::launch(argc, argv, [mode](tutti::Team& world) {
    std::vector<int> data(1000, world.pe() + 1);
    for (int i = 0; i < 100; ++i) tutti::allreduce(world, data, tutti::Op::Max);
    const bool is_last = world.pe() == world.size() - 1;
    if (is_last && std::strcmp(mode, "throw") == 0) throw std::runtime_error("boom");
    if (is_last && std::strcmp(mode, "kill") == 0) std::raise(SIGKILL);
    if (is_last && std::strcmp(mode, "refuse") == 0) tutti::broadcast(world, data, 99);
    world.barrier();
    if (world.pe() == 0) std::printf("max %d over %d PEs\n", data[0], world.size());
  });
}
