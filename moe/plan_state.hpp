// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "moe/layout.hpp"
#include "moe/placement.hpp"
#include "moe/routing.hpp"
#include "primitives/block.hpp"
#include "primitives/lane.hpp"
#include "tutti/moe.hpp"

namespace tutti::moe {

/// A plan on one PE. What is constant comes first, then what the last dispatch left behind.
struct PlanState {
  PlanState(Team& on, PlanOptions wanted);

  Team team;
  PlanOptions options;
  Placement placement;
  SharedLayout layout;
  std::size_t row_bytes = 0;
  std::size_t max_rows = 0;     ///< without padding
  std::size_t padded_rows = 0;  ///< room for rows, with padding
  const DispatchAlgorithm* dispatch = nullptr;
  const CombineAlgorithm* combine = nullptr;
  std::shared_ptr<detail::Block> shared;    ///< `layout`; peers read it
  std::shared_ptr<detail::Block> received;  ///< [padded_rows, hidden]

  std::uint64_t dispatches = 0;  ///< begun; says which half of the dispatch memory is used
  std::uint64_t combines = 0;
  std::uint64_t live = 0;  ///< number of the dispatch whose handle is valid; 0 = none
  bool combined = false;   ///< the live handle has been used up
  Routing routing;         ///< of my tokens
  bool has_weights = false;
  std::vector<float> weights;         ///< [tokens, topk]; undefined where nothing is routed
  std::size_t total = 0;              ///< rows received, with padding
  std::vector<std::int32_t> counts;   ///< [local experts]
  std::vector<std::int64_t> offsets;  ///< [local experts + 1]
  std::vector<std::uint32_t> base;    ///< [pes, local experts]: a source's first row in an expert
  std::vector<RowSource> sources;     ///< [padded_rows]

  std::vector<const void*> fold_rows;  ///< [topk] scratch of a combine
  std::vector<float> fold_weights;     ///< [topk] scratch of a combine

  int pe() const noexcept { return team.pe(); }
  int pes() const noexcept { return team.size(); }
  int local() const noexcept { return placement.local(pe()); }
  detail::Lane& lane() const noexcept;

  /// My instance of what peers read, and that of PE `pe` (or its mirror).
  template <class T>
  T* mine(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(shared->local() + offset);
  }
  template <class T>
  const T* of(int pe, std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(shared->readable(pe) + offset);
  }
  std::byte* output_row(std::size_t row) const noexcept {
    return mine<std::byte>(layout.outputs + row * row_bytes);
  }
  std::byte* received_row(std::size_t row) const noexcept {
    return received->local() + row * row_bytes;
  }

  /// Starts the lane's next call as a call of this plan.
  void begin(detail::CallKind kind) const;
  /// "moe dispatch on team world".
  std::string operation(detail::CallKind kind) const;
};

/// One dispatch on one PE. `run` of an algorithm publishes verdict and data, throws what all PEs
/// agree on, and fills `received` and everything from `total` to `sources`.
struct DispatchCall {
  PlanState& plan;
  const std::byte* x;        ///< my tokens
  std::size_t stride_bytes;  ///< from one to the next
  std::string refusal;       ///< why this PE refuses its arguments, if it does
  std::optional<BadId> bad;  ///< what is wrong with its ids
};

/// One combine on one PE. `run` publishes verdict and outputs, throws what all PEs agree on, and
/// writes `out`.
struct CombineCall {
  PlanState& plan;
  const std::byte* rows;  ///< outputs of my experts; may be `output_rows`
  std::size_t rows_stride_bytes;
  const float* weights;  ///< [tokens, topk]
  std::byte* out;        ///< [tokens, hidden]
  std::size_t out_stride_bytes;
  std::string refusal;
};

}  // namespace tutti::moe
