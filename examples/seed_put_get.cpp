// SPDX-License-Identifier: Apache-2.0
// The first example of pypto.distributed, "basic data transfer": every PE puts a [16, 64] tensor
// into its neighbour's instance, in tiles of the whole, and gets it back from there.
#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

int main(int argc, char** argv) {
  return tutti::launch(argc, argv, [](tutti::Team& world) {
    const int neighbour = (world.pe() + 1) % world.size();
    const std::vector<float> local_data(16 * 64, 1.0F + static_cast<float>(world.pe()));

    auto shmem_tensor = tutti::make_tensor<float>(world, {16, 64}, tutti::tile(16, 64));
    const tutti::Token put_out =
        tutti::put(local_data, shmem_tensor.view({0, 0}, {16, 64}), neighbour, tutti::Update::Set);
    std::vector<float> back(16 * 64);
    tutti::get(shmem_tensor, neighbour, back, put_out);  // after what it is to read

    world.barrier();  // now everybody has put
    std::printf("PE %d of %d: put %.1f to PE %d, got %.1f back from there, holds %.1f from PE %d\n",
                world.pe(), world.size(), static_cast<double>(local_data.front()), neighbour,
                static_cast<double>(back.back()), static_cast<double>(shmem_tensor.local().back()),
                (world.pe() + world.size() - 1) % world.size());
    if (back != local_data) {
      throw tutti::Error(tutti::ErrorCode::Mismatch, "what came back is not what was put");
    }
    world.barrier();  // nobody leaves while others still read
  });
}
