// SPDX-License-Identifier: Apache-2.0
// The second example of pypto.distributed, "synchronisation by signals": PE 0 signals PE 1, which
// waits. With more PEs the signal is passed on; in the end everyone has had it.
#include <cstdint>
#include <cstdio>
#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  return tutti::launch(argc, argv, [](tutti::Team& world) {
    auto signals = tutti::make_signals(world, 1);
    const int next = (world.pe() + 1) % world.size();
    tutti::Token signal_out;

    if (world.pe() == 0) {
      signal_out = tutti::signal(signals[0], next, 1, tutti::Update::Set);
      std::printf("PE 0: signalled PE %d\n", next);
    }
    const tutti::Token wait_out = tutti::wait_until(signals[0], tutti::Cmp::Eq, 1, signal_out);
    const std::uint64_t seen = signals[0].value();
    tutti::clear(signals[0]);  // as the seed does; words that grow, with Cmp::Ge, need no clear
    std::printf("PE %d: saw %llu, cleared to %llu\n", world.pe(),
                static_cast<unsigned long long>(seen),
                static_cast<unsigned long long>(signals[0].value()));
    if (world.pe() != 0) tutti::signal(signals[0], next, 1, tutti::Update::Set, wait_out);
    world.barrier();
  });
}
