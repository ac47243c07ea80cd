// SPDX-License-Identifier: Apache-2.0
#include "primitives/atomics.hpp"

#include <memory>

#include "primitives/fault.hpp"
#include "primitives/team_state.hpp"
#include "primitives/tensor_checks.hpp"
#include "primitives/transfer_order.hpp"
#include "tutti/atomics.hpp"

namespace tutti::detail {
namespace {

const char* name_of(AtomicOp op) {
  switch (op) {
    case AtomicOp::Fetch:
      return "fetch";
    case AtomicOp::Add:
      return "fetch_add";
    case AtomicOp::Swap:
      return "swap";
    case AtomicOp::CompareExchange:
      break;
  }
  return "compare_exchange";
}

/// By message.
std::uint64_t ask(TeamState& team, const RemoteAddress& at, int pe, const AtomicRequest& request) {
  auto reply = std::make_unique<Reply>();
  team.world().transport()->atomic(at, request, reply.get());
  await_answer(team, name_of(request.op), pe, reply, reply->done);
  return reply->value;
}

std::uint64_t modify(const WordAt& word, int pe, const AtomicRequest& request) {
  TeamState& team = *word.words->team;
  const Block& block = *word.words->block;
  team.check_usable();
  check_pe(team, name_of(request.op), pe);
  delay_here("atomic");
  if (std::byte* at = block.direct(pe)) [[likely]] {
    const std::uint64_t old = apply_atomic(at + word.index * kLine, request);
    // Whoever tries again and again on its own word must answer the others meanwhile.
    if (Transport* transport = team.world().transport()) transport->progress();
    if (request.op != AtomicOp::Fetch) team.world().ring_one(team.member(pe));
    return old;
  }
  return ask(team, block.remote(pe, word.index * kLine), pe, request);
}

}  // namespace

std::uint64_t fetch(const WordAt& word, int pe) { return modify(word, pe, {AtomicOp::Fetch}); }

std::uint64_t fetch_add(const WordAt& word, int pe, std::uint64_t value) {
  return modify(word, pe, {AtomicOp::Add, value});
}

std::uint64_t swap(const WordAt& word, int pe, std::uint64_t value) {
  return modify(word, pe, {AtomicOp::Swap, value});
}

std::uint64_t compare_exchange(const WordAt& word, int pe, std::uint64_t expected,
                               std::uint64_t desired) {
  return modify(word, pe, {AtomicOp::CompareExchange, desired, expected});
}

}  // namespace tutti::detail
