// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "moe/plan_state.hpp"

/// Phases that the algorithms have in common. All of them read what was published, so they come
/// after every PE has been awaited.
namespace tutti::moe {

/// Writes my verdict and how many rows each PE gets from me.
void write_dispatch_head(const DispatchCall& call, std::size_t parity);
/// Writes my verdict for every reader, and where its tokens lie among the rows of my experts.
void write_combine_heads(const CombineCall& call, std::size_t parity);

/// Throws the same `Error` on all PEs if one of them has refused, has a bad id, or would receive
/// more rows than the plan has room for.
void check_dispatch_heads(const PlanState& plan, std::size_t parity);
/// Throws the same `Error` on all PEs if one of them has refused.
void check_combine_heads(const PlanState& plan, std::size_t parity);

/// From everybody's `begin`: counts, offsets, base, total, and the rows of padding.
void lay_out_rows(PlanState& plan, std::size_t parity);

}  // namespace tutti::moe
