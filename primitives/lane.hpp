// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "primitives/barrier.hpp"
#include "primitives/block.hpp"
#include "primitives/control.hpp"
#include "primitives/rendezvous.hpp"
#include "primitives/wait.hpp"

namespace tutti::detail {

/// What a call is, for the records that peers read when a wait takes long.
enum class CallKind : std::uint32_t {
  None,
  Barrier,
  Agree,
  Allreduce,
  Allgather,
  ReduceScatter,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Alltoall,
  Allgatherv,
  ReduceScatterv,
  Alltoallv,
  Gatherv,
  Scatterv,
  RingShift,
  MoeDispatch,
  MoeCombine,
};
const char* name_of(CallKind kind) noexcept;

/// One call as its PE described it. Two PEs make the same call if all but `call` is equal.
struct CallRecord {
  std::uint64_t call = 0;
  std::uint64_t count = 0;
  CallKind kind = CallKind::None;
  std::int32_t root = -1;
  std::uint64_t how = 0;          ///< hash of type, op, memory, contract, algorithm, parameters
  std::array<char, 24> detail{};  ///< "f32 sum one_shot", for people
};

/// What differs from call to call of one record.
struct CallDetails {
  std::int32_t root = -1;
  std::uint64_t counts = 0;  ///< hash of further numbers that all PEs must agree on
  std::chrono::milliseconds timeout{0};
};

inline constexpr std::uint64_t kDepth = 8;  ///< call slots of a lane
inline constexpr std::size_t kExchangeBytes = kAgreementBytes;

/// The words of one call; see docs/architecture.md, "Words of a lane".
struct CallSlot {
  static constexpr std::size_t kProgress = 48;
  static constexpr std::size_t kArrival = 56;

  alignas(kLine) std::array<std::byte, 64> line;  ///< payload, progress, arrival
  alignas(kLine) std::uint64_t consumed;
  alignas(kLine) std::array<std::byte, kExchangeBytes> exchange;
};

struct LaneWords {
  std::array<CallSlot, kDepth> slots;
  alignas(kLine) std::array<CallRecord, kDepth> records;
};

inline constexpr int kLanes = 4;

/// The symmetric words of a team; every member has an instance.
struct TeamWords {
  alignas(kLine) std::uint64_t poison;  ///< 0, or world PE + 1 of who noticed; written by anyone
  alignas(kLine) std::uint64_t ping;    ///< the ball of `measure_line_ns`
  Post post;                            ///< of `Rendezvous`
  std::array<LaneWords, kLanes> lanes;
};

/// A ring of staging memory of one size. Positions are 64-bit byte counts, equal on all PEs.
struct Ring {
  std::shared_ptr<Block> block;
  std::size_t bytes = 0;
  std::uint64_t position = 0;    ///< next byte to reserve
  std::uint64_t floor = 0;       ///< everything before it has been consumed by all
  std::uint64_t last_call = 0;   ///< the last call that reserved
  std::uint64_t call_start = 0;  ///< `position` when that call began

  std::size_t offset(std::uint64_t at) const noexcept { return at & (bytes - 1); }
};

/// An ordered stream of calls in a team. Calls on one lane are made by one thread at a time and in
/// the same order on every member. The rules R1 to R4 of docs/architecture.md are kept here.
class Lane {
 public:
  void attach(TeamState& team, int index);

  /// Starts the next call; nothing is visible to peers yet. Throws if the team is poisoned.
  void begin(const CallRecord& record, const CallDetails& details = {});
  /// Posts that this PE refuses the call it was about to make; `text` says why.
  void refuse(CallKind kind, const std::string& text);

  void publish(std::uint64_t step);
  void publish_line(const std::byte* payload, std::size_t bytes);
  /// `publish(1)`, the call's first, with at most `CallSlot::kProgress` bytes of payload in the
  /// line.
  void publish_first_step(const std::byte* payload, std::size_t bytes);
  void await(int pe, std::uint64_t step);
  void await_all(std::uint64_t step);
  const std::byte* await_line(int pe);
  void consumed(std::uint64_t step);

  /// Makes the ring of this size if the lane has none yet: a collective step of its own, before
  /// `begin`. `bytes` is a power of two, equal on all PEs.
  void require_ring(std::size_t bytes);
  Ring& ring(std::size_t bytes);
  /// The next `bytes` of the ring, contiguous, to be published by step `step`.
  std::uint64_t reserve(Ring& ring, std::size_t bytes, std::uint64_t step);

  /// An allgather of at most `kExchangeBytes` from each PE, as a call of its own.
  void exchange(const void* mine, std::size_t bytes, void* all,
                std::chrono::milliseconds timeout = {});
  void barrier();
  BarrierKind barrier_kind() const noexcept { return barrier_; }

  std::uint64_t call() const noexcept { return call_; }
  const char* operation() const noexcept { return name_of(kind_); }
  /// The members that have not posted this call, and what each one is doing: "PE 1 (in call 16:
  /// broadcast)".
  std::string missing() const;
  /// Throws `Error` (Mismatch or PeerFailed) if a member has posted another call than mine.
  void check_arrivals();

 private:
  struct Reservation {
    std::uint64_t end;
    std::uint64_t step;
  };

  std::uint64_t load(int pe, std::size_t slot, std::size_t offset) const noexcept;
  CallSlot& own_slot() const noexcept;
  void raise(std::size_t offset, std::uint64_t value);
  void post();
  bool arrived(int pe);
  void catch_up(std::uint64_t target);
  void make_room(Ring& ring, std::uint64_t end);
  std::uint64_t last_arrival(int pe) const noexcept;
  void check_earlier(int pe);
  void barrier_in_steps();
  void disseminate();
  void climb_and_return();
  [[noreturn]] void disagree(int pe, std::uint64_t call, std::uint64_t theirs);
  WaitSite site(int on) const noexcept;

  TeamState* team_ = nullptr;
  int index_ = 0;
  int pe_ = 0;
  int pes_ = 0;
  bool all_direct_ = true;
  BarrierKind barrier_ = BarrierKind::Flat;
  std::uint64_t call_ = 0;
  CallKind kind_ = CallKind::None;
  std::uint64_t expected_ = 0;  ///< my own arrival word of this call
  bool posted_ = false;         ///< whether the arrival of this call is out
  std::chrono::milliseconds timeout_{0};
  std::uint64_t all_arrived_ = 0;       ///< every member has posted this call or a later one
  std::size_t slot_offset_ = 0;         ///< of this call's slot in TeamWords
  std::vector<LaneWords*> words_;       ///< of each member: its instance or mirror
  std::vector<std::uint64_t> seen_;     ///< last call that each member is known to have posted
  std::vector<std::uint64_t> checked_;  ///< last call in which its arrival was compared with mine
  std::array<std::uint64_t, kDepth> posted_words_{};  ///< my own last arrivals
  std::vector<Ring> rings_;
  std::vector<Reservation> reservations_;  ///< of this call
};

}  // namespace tutti::detail
