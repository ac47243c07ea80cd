// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <type_traits>

#include "primitives/cpu.hpp"
#include "primitives/fibers.hpp"

namespace tutti::detail {

class TeamState;
class World;

/// A reference to a callable, for the slow path of a wait.
class Predicate {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Predicate>) explicit Predicate(F& f)
      : object_(&f),
        call_([](const void* object) { return (*static_cast<F*>(const_cast<void*>(object)))(); }) {}
  bool operator()() const { return call_(object_); }

 private:
  const void* object_;
  bool (*call_)(const void*);
};

/// Who waits, and for whom; read only when a wait takes long.
struct WaitSite {
  TeamState* team;
  const char* what;                      ///< "allreduce", "wait_until", ...
  int lane = -1;                         ///< the lane of the call, or -1
  int on = -1;                           ///< PE of the team that is waited for, or -1 = any
  std::chrono::milliseconds timeout{0};  ///< 0 = the world's
  bool of_call = false;                  ///< a wait of a collective call outside of lanes

  /// Whether this wait belongs to a call that all its members have to finish.
  bool collective() const noexcept { return lane >= 0 || of_call; }
};

/// The one way to wait: spin briefly, yield, then sleep on the PE's doorbell. Predicates read words
/// with sequentially consistent loads, which is what makes sleeping safe (see `World::ring`).
class WaitEngine {
 public:
  WaitEngine(World& world, const Fibers& fibers) : world_(world), fibers_(fibers) {}

  /// Spinning is pointless where PEs outnumber CPUs, or where waiting must drive a transport.
  void set_spins(int spins) noexcept { spins_ = spins; }
  int spins() const noexcept { return spins_; }

  /// Returns when `ready()` is true; meanwhile lets all operations that this PE has started go on,
  /// or the program, if an operation is what waits. Throws `Error` if that cannot happen any more:
  /// see `TeamState::check`.
  template <class Ready>
  void until(Ready&& ready, const WaitSite& site) {
    if (ready()) [[likely]] {
      return;
    }
    for (int i = attentive() ? 0 : spins_; i > 0; --i) {
      cpu_pause();
      if (ready()) return;
    }
    slow(Predicate(ready), site);
  }

 private:
  /// Whether this thread has started operations, which every wait of it drives.
  bool attentive() const noexcept { return fibers_.any(); }
  void slow(Predicate ready, const WaitSite& site);
  void on_fiber(Predicate ready, const WaitSite& site);
  void sleep(Predicate ready, const WaitSite& site, std::chrono::milliseconds most);

  World& world_;
  const Fibers& fibers_;
  int spins_ = 0;
};

}  // namespace tutti::detail
