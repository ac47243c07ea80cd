// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "moe/plan_state.hpp"
#include "tutti/error.hpp"
#include "tutti/moe.hpp"

namespace tutti::moe {
namespace {

using detail::CallKind;

std::string rows_problem(const PlanState& plan, const char* what, DType dtype, std::size_t stride,
                         const void* data, std::size_t rows) {
  if (dtype != plan.options.dtype) {
    return fmt::format("{} has type {}, the plan has {}", what, name_of(dtype),
                       name_of(plan.options.dtype));
  }
  if (stride != 0 && stride < plan.options.hidden) {
    return fmt::format("{} has a row stride of {} elements; allowed are {} (hidden) and above",
                       what, stride, plan.options.hidden);
  }
  if (data == nullptr && rows > 0) return fmt::format("{} is null but has {} rows", what, rows);
  return {};
}

std::string dispatch_problem(const PlanState& plan, const ConstRows& x, const Ids& ids,
                             std::span<const float> weights, const Mask& mask) {
  const std::size_t entries = x.rows * static_cast<std::size_t>(plan.options.topk);
  if (x.rows > plan.options.max_tokens) {
    return fmt::format("x has {} tokens; allowed are 0 to {} (max_tokens)", x.rows,
                       plan.options.max_tokens);
  }
  if (ids.size != entries) {
    return fmt::format("{} ids for {} tokens with {} each", ids.size, x.rows, plan.options.topk);
  }
  if (!weights.empty() && weights.size() != entries) {
    return fmt::format("{} weights for {} ids", weights.size(), entries);
  }
  if (mask.given && mask.size != x.rows) {
    return fmt::format("a mask of {} flags for {} tokens", mask.size, x.rows);
  }
  return rows_problem(plan, "x", x.dtype, x.stride, x.data, x.rows);
}

std::size_t stride_bytes(const PlanState& plan, std::size_t stride) {
  return stride == 0 ? plan.row_bytes : stride * size_of(plan.options.dtype);
}

void keep_weights(PlanState& plan, std::span<const float> weights) {
  const Routing& routing = plan.routing;
  const std::size_t entries = routing.tokens * routing.topk;
  plan.has_weights = !weights.empty() || entries == 0;
  for (std::size_t at = 0; at < weights.size() && at < entries; ++at) {
    if (routing.slot[at] != Routing::kNone) plan.weights[at] = weights[at];
  }
}

std::string combine_problem(const PlanState& plan, bool valid, const ConstRows& rows,
                            const std::span<const float>* weights, const MutableRows& out) {
  if (!valid) return "the handle is not of this plan's last dispatch";
  if (plan.combined) return "the handle has been combined already";
  const std::size_t entries = plan.routing.tokens * plan.routing.topk;
  if (weights == nullptr && !plan.has_weights) {
    return "weights were given neither to dispatch nor to combine";
  }
  if (weights != nullptr && weights->size() != entries) {
    return fmt::format("{} weights for {} ids", weights->size(), entries);
  }
  if (out.rows != plan.routing.tokens) {
    return fmt::format("out has {} rows for {} tokens", out.rows, plan.routing.tokens);
  }
  if (rows.rows != plan.total) {
    return fmt::format("{} rows of outputs; the handle has {}", rows.rows, plan.total);
  }
  std::string problem = rows_problem(plan, "rows", rows.dtype, rows.stride, rows.data, rows.rows);
  if (!problem.empty()) return problem;
  return rows_problem(plan, "out", out.dtype, out.stride, out.data, out.rows);
}

}  // namespace

Plan::Plan(Team& team, const PlanOptions& options)
    : state_(std::make_shared<PlanState>(team, options)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

const PlanOptions& Plan::options() const noexcept { return state_->options; }
std::span<const int> Plan::local_experts() const noexcept {
  return state_->placement.experts_of(state_->pe());
}
std::size_t Plan::max_rows() const noexcept { return state_->max_rows; }
std::size_t Plan::symmetric_bytes() const noexcept {
  return state_->shared->bytes() + state_->received->bytes();
}

Handle Plan::dispatch(ConstRows x, Ids ids, std::span<const float> weights, Mask mask) {
  PlanState& plan = *state_;
  DispatchCall call{
      plan, static_cast<const std::byte*>(x.data), stride_bytes(plan, x.stride), {}, {}};
  call.refusal = dispatch_problem(plan, x, ids, weights, mask);
  plan.begin(CallKind::MoeDispatch);
  plan.live = 0;
  ++plan.dispatches;
  clear(plan.routing);
  if (call.refusal.empty()) {
    call.bad = route(plan.placement, x.rows, ids, mask, plan.routing);
    keep_weights(plan, weights);
  }
  plan.dispatch->run(call);
  plan.live = plan.dispatches;
  plan.combined = false;
  return {state_, plan.live};
}

void Plan::combine_any(const ConstRows* rows, const Handle& handle,
                       const std::span<const float>* weights, MutableRows out) {
  PlanState& plan = *state_;
  ConstRows outputs(static_cast<const float*>(nullptr), plan.total);
  outputs.data = plan.output_row(0);
  outputs.dtype = plan.options.dtype;
  if (rows != nullptr) outputs = *rows;

  CombineCall call{plan,
                   static_cast<const std::byte*>(outputs.data),
                   stride_bytes(plan, outputs.stride),
                   weights == nullptr ? plan.weights.data() : weights->data(),
                   static_cast<std::byte*>(out.data),
                   stride_bytes(plan, out.stride),
                   {}};
  const bool valid = handle.plan_ == state_ && handle.serial_ == plan.live && plan.live != 0;
  call.refusal = combine_problem(plan, valid, outputs, weights, out);
  plan.begin(CallKind::MoeCombine);
  ++plan.combines;
  plan.combine->run(call);
  plan.combined = true;
}

void Plan::combine(ConstRows rows, const Handle& handle, MutableRows out) {
  combine_any(&rows, handle, nullptr, out);
}
void Plan::combine(ConstRows rows, const Handle& handle, std::span<const float> weights,
                   MutableRows out) {
  combine_any(&rows, handle, &weights, out);
}
void Plan::combine(const Handle& handle, MutableRows out) {
  combine_any(nullptr, handle, nullptr, out);
}

const PlanState& Handle::state() const {
  if (plan_ == nullptr || serial_ != plan_->live) {
    throw Error(ErrorCode::InvalidArgument,
                "moe handle: its plan has made another dispatch since, or it is empty");
  }
  return *plan_;
}

std::size_t Handle::total() const { return state().total; }
std::span<const std::int32_t> Handle::counts() const { return state().counts; }
std::span<const std::int64_t> Handle::offsets() const { return state().offsets; }
std::span<const RowSource> Handle::sources() const {
  return std::span(state().sources).first(state().total);
}
std::size_t Handle::elements() const { return state().total * state().options.hidden; }

const void* Handle::received(DType as) const {
  if (as != state().options.dtype) {
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("moe handle: rows are asked for as {}, the plan has {}", name_of(as),
                            name_of(state().options.dtype)));
  }
  return state().received->local();
}

void* Handle::outputs(DType as) const {
  received(as);
  return state().output_row(0);
}

}  // namespace tutti::moe
