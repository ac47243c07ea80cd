// SPDX-License-Identifier: Apache-2.0
#include "primitives/loopback.hpp"

#include <atomic>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "primitives/accumulate.hpp"
#include "primitives/atomics.hpp"
#include "primitives/world.hpp"

namespace tutti::detail {
namespace {

enum class Kind : std::uint8_t { Put, Accumulate, Word, PutWord, Atomic, Get, Fence };

struct Message {
  Kind kind = Kind::Put;
  BlockId block = 0;
  std::size_t offset = 0;
  std::vector<std::byte> payload = {};
  std::uint64_t value = 0;
  WordOp op = WordOp::Set;
  DType to_type = DType::U8;
  DType from_type = DType::U8;
  RemoteAddress word_at = {};  ///< of a PutWord
  AtomicRequest request = {};
  Reply* answer = nullptr;
  void* reply = nullptr;
  std::size_t reply_bytes = 0;
  std::uint64_t* done = nullptr;
};

void update_word(std::byte* at, std::uint64_t value, WordOp op) {
  const auto word = word_at(at);
  op == WordOp::Set ? word.store(value) : void(word.fetch_add(value));
}

/// What waits for one PE, by sender.
struct Inbox {
  std::mutex mutex;
  std::vector<std::deque<Message>> from;
  std::vector<std::uint64_t> delivered;  ///< messages of each sender that took effect
};

class Loopback final : public Transport {
 public:
  Loopback(World& world, std::uint64_t seed, const Allgather& allgather)
      : world_(world), random_(seed * 1000003 + static_cast<std::uint64_t>(world.pe())) {
    const auto pes = static_cast<std::size_t>(world.pes());
    own_ = std::make_shared<Inbox>();
    own_->from.resize(pes);
    own_->delivered.resize(pes);
    sent_.resize(pes);
    const std::shared_ptr<Inbox>* mine = &own_;
    std::vector<const std::shared_ptr<Inbox>*> all(pes);
    allgather(&mine, sizeof mine, all.data());
    for (const auto* inbox : all) inboxes_.push_back(*inbox);
    allgather(&mine, sizeof mine, all.data());  // nobody goes on before all have copied
  }

  void put(RemoteAddress to, const void* from, std::size_t bytes) override {
    Message message{.kind = Kind::Put, .block = to.block, .offset = to.offset};
    message.payload.resize(bytes);
    std::memcpy(message.payload.data(), from, bytes);
    send(to.world_pe, std::move(message));
  }

  void accumulate(RemoteAddress to, DType to_type, const void* from, DType from_type,
                  std::size_t count) override {
    Message message{.kind = Kind::Accumulate, .block = to.block, .offset = to.offset};
    message.payload.resize(count * size_of(from_type));
    std::memcpy(message.payload.data(), from, message.payload.size());
    message.to_type = to_type;
    message.from_type = from_type;
    send(to.world_pe, std::move(message));
  }

  void word(RemoteAddress to, std::uint64_t value, WordOp op) override {
    send(to.world_pe, {.kind = Kind::Word,
                       .block = to.block,
                       .offset = to.offset,
                       .payload = {},
                       .value = value,
                       .op = op});
  }

  void put_word(RemoteAddress to, const void* from, std::size_t bytes, RemoteAddress word_at,
                std::uint64_t value, WordOp op) override {
    Message message{.kind = Kind::PutWord, .block = to.block, .offset = to.offset};
    message.payload.resize(bytes);
    if (bytes > 0) std::memcpy(message.payload.data(), from, bytes);
    message.word_at = word_at;
    message.value = value;
    message.op = op;
    send(to.world_pe, std::move(message));
  }

  void atomic(RemoteAddress at, const AtomicRequest& request, Reply* reply) override {
    Message message{.kind = Kind::Atomic, .block = at.block, .offset = at.offset};
    message.request = request;
    message.answer = reply;
    send(at.world_pe, std::move(message));
  }

  void get(RemoteAddress from, void* to, std::size_t bytes, std::uint64_t* done) override {
    Message message{.kind = Kind::Get, .block = from.block, .offset = from.offset};
    message.reply = to;
    message.reply_bytes = bytes;
    message.done = done;
    send(from.world_pe, std::move(message));
  }

  void fence(int world_pe) override { send(world_pe, {.kind = Kind::Fence}); }

  bool quiet(int world_pe) override {
    Inbox& inbox = *inboxes_[static_cast<std::size_t>(world_pe)];
    const std::scoped_lock lock(inbox.mutex);
    return inbox.delivered[static_cast<std::size_t>(world_.pe())] ==
           sent_[static_cast<std::size_t>(world_pe)];
  }

  bool progress() override {
    const std::scoped_lock lock(own_->mutex);
    std::size_t waiting = 0;
    for (const auto& queue : own_->from) waiting += queue.size();
    // Some of what has come stays: the next progress delivers it, or the one after.
    for (std::size_t left = waiting; left > 0 && random_() % 4 != 0; --left) {
      deliver_one();
      --waiting;
    }
    return waiting > 0;
  }

 private:
  void send(int world_pe, Message message) {
    Inbox& inbox = *inboxes_[static_cast<std::size_t>(world_pe)];
    {
      const std::scoped_lock lock(inbox.mutex);
      inbox.from[static_cast<std::size_t>(world_.pe())].push_back(std::move(message));
      ++sent_[static_cast<std::size_t>(world_pe)];
    }
    world_.ring_one(world_pe);
  }

  static bool ordered(const Message& message) {
    return message.kind == Kind::Word || message.kind == Kind::PutWord ||
           message.kind == Kind::Atomic || message.kind == Kind::Fence;
  }

  void deliver_one() {
    std::vector<std::size_t> sources;
    for (std::size_t i = 0; i < own_->from.size(); ++i) {
      if (!own_->from[i].empty()) sources.push_back(i);
    }
    const std::size_t source = sources[random_() % sources.size()];
    auto& queue = own_->from[source];
    std::size_t free_to_choose = 0;  // payloads in front of the first word or fence
    while (free_to_choose < queue.size() && !ordered(queue[free_to_choose])) ++free_to_choose;
    // A payload with a word of its own may overtake other payloads, but no word.
    const bool overtakes =
        free_to_choose < queue.size() && queue[free_to_choose].kind == Kind::PutWord;
    if (overtakes) ++free_to_choose;
    const std::size_t chosen = free_to_choose == 0 ? 0 : random_() % free_to_choose;
    const Message message = std::move(queue[chosen]);
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(chosen));
    apply(message);
    ++own_->delivered[source];
    if (message.kind == Kind::Get || message.kind == Kind::Atomic || queue.empty())
      world_.ring_one(static_cast<int>(source));
  }

  static std::size_t bytes_at_target(const Message& message) {
    switch (message.kind) {
      case Kind::Get:
        return message.reply_bytes;
      case Kind::Word:
      case Kind::Atomic:
        return sizeof(std::uint64_t);
      case Kind::Accumulate:
        return message.payload.size() / size_of(message.from_type) * size_of(message.to_type);
      case Kind::Put:
      case Kind::PutWord:
      case Kind::Fence:
        break;
    }
    return message.payload.size();
  }

  /// nullptr if this PE has let go of the block: nobody will look.
  std::byte* find(BlockId block, std::size_t offset, std::size_t bytes) {
    const std::scoped_lock lock(world_.mutex());
    return offset == std::numeric_limits<std::size_t>::max()
               ? world_.heap().find_header(block)
               : world_.heap().find(block, offset, bytes);
  }

  void apply(const Message& message) {
    if (message.kind == Kind::Fence) return;
    const std::size_t bytes = bytes_at_target(message);
    std::byte* at = find(message.block, message.offset, bytes);
    if (at == nullptr) return;
    switch (message.kind) {
      case Kind::Put:
        std::memcpy(at, message.payload.data(), bytes);
        break;
      case Kind::PutWord:
        if (bytes > 0) std::memcpy(at, message.payload.data(), bytes);
        if (std::byte* word = find(message.word_at.block, message.word_at.offset, 8)) {
          update_word(word, message.value, message.op);
        }
        break;
      case Kind::Accumulate:
        accumulate_elements(at, message.to_type, message.payload.data(), message.from_type,
                            message.payload.size() / size_of(message.from_type));
        break;
      case Kind::Word:
        update_word(at, message.value, message.op);
        break;
      case Kind::Atomic:
        message.answer->value = apply_atomic(at, message.request);
        std::atomic_ref<std::uint64_t>(message.answer->done).store(1);
        break;
      case Kind::Get:
        std::memcpy(message.reply, at, bytes);
        std::atomic_ref<std::uint64_t>(*message.done).store(1);
        break;
      case Kind::Fence:
        break;
    }
  }

  World& world_;
  std::mt19937_64 random_;
  std::shared_ptr<Inbox> own_;
  std::vector<std::shared_ptr<Inbox>> inboxes_;
  std::vector<std::uint64_t> sent_;
};

}  // namespace

std::unique_ptr<Transport> make_loopback(World& world, std::uint64_t seed,
                                         const Allgather& allgather) {
  return std::make_unique<Loopback>(world, seed, allgather);
}

}  // namespace tutti::detail
