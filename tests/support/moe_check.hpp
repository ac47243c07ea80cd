// SPDX-License-Identifier: Apache-2.0
#pragma once

// One round of dispatch, experts and combine on PEs, every element compared with the reference.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/moe_reference.hpp"
#include "tutti/moe.hpp"
#include "tutti/team.hpp"

namespace tutti::tests {

/// How a round hands its buffers over.
struct MoeStyle {
  bool output_rows = true;    ///< else the experts write memory of their own
  bool narrow_ids = false;    ///< int32
  std::size_t gap = 0;        ///< elements between rows of x, out and foreign rows
  bool late_weights = false;  ///< weights at combine only
  std::string name;
};

inline moe::PlanOptions options_for(const MoeShape& shape, std::size_t max_tokens, DType dtype) {
  moe::PlanOptions options;
  options.experts = shape.experts;
  options.topk = shape.topk;
  options.hidden = shape.hidden;
  options.max_tokens = max_tokens;
  options.dtype = dtype;
  options.placement = shape.owner;
  return options;
}

/// `values` [rows, hidden] with `gap` elements of `filler` behind each row.
template <class T>
std::vector<T> spread(const std::vector<T>& values, std::size_t hidden, std::size_t gap, T filler) {
  std::vector<T> result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.push_back(values[i]);
    if (i % hidden == hidden - 1) result.insert(result.end(), gap, filler);
  }
  return result;
}

/// Compares rows, sources, counts and offsets of a handle.
template <class T>
void check_handle(const MoeShape& shape, const std::vector<MoeBatch<T>>& batches, int pe,
                  const moe::Plan& plan, const moe::Handle& handle, const std::string& name) {
  const auto expected = reference_rows(shape, batches, pe);
  const auto padding = static_cast<std::size_t>(plan.options().padding);
  const auto sources = handle.sources();
  const auto rows = handle.template rows<T>();
  std::size_t next = 0;  // of `expected`
  std::size_t row = 0;
  for (std::size_t i = 0; i < plan.local_experts().size(); ++i) {
    ASSERT_EQ(static_cast<std::size_t>(handle.offsets()[i]), row) << name << " PE " << pe;
    std::size_t count = 0;
    for (; next < expected.size() && expected[next].expert == plan.local_experts()[i]; ++next) {
      const MoeRow& from = expected[next];
      const moe::RowSource source{from.pe, static_cast<std::int32_t>(from.token), from.k};
      ASSERT_LT(row + count, handle.total()) << name << " PE " << pe;
      ASSERT_EQ(sources[row + count], source) << name << " PE " << pe << " row " << row + count;
      const auto& batch = batches[static_cast<std::size_t>(from.pe)];
      for (std::size_t h = 0; h < shape.hidden; ++h) {
        ASSERT_EQ(rows[(row + count) * shape.hidden + h], batch.x[from.token * shape.hidden + h])
            << name << " PE " << pe << " row " << row + count << " element " << h;
      }
      ++count;
    }
    ASSERT_EQ(static_cast<std::size_t>(handle.counts()[i]), count) << name << " PE " << pe;
    const std::size_t end = row + (count + padding - 1) / padding * padding;
    for (row += count; row < end; ++row) {
      ASSERT_EQ(sources[row], moe::RowSource()) << name << " PE " << pe << " row " << row;
      for (std::size_t h = 0; h < shape.hidden; ++h) {
        ASSERT_EQ(as_float(rows[row * shape.hidden + h]), 0) << name << " PE " << pe;
      }
    }
  }
  ASSERT_EQ(next, expected.size()) << name << " PE " << pe;
  ASSERT_EQ(handle.total(), row) << name << " PE " << pe;
  ASSERT_EQ(static_cast<std::size_t>(handle.offsets().back()), row) << name << " PE " << pe;
}

/// My experts' outputs, [total, hidden] packed.
template <class T>
std::vector<T> experts_of(const moe::Plan& plan, const moe::Handle& handle) {
  const std::size_t hidden = plan.options().hidden;
  const auto rows = handle.template rows<T>();
  std::vector<T> result(rows.size());
  for (std::size_t i = 0; i < plan.local_experts().size(); ++i) {
    const auto first = static_cast<std::size_t>(handle.offsets()[i]);
    const auto count = static_cast<std::size_t>(handle.counts()[i]);
    for (std::size_t at = first * hidden; at < (first + count) * hidden; ++at) {
      result[at] = reference_expert(plan.local_experts()[i], rows[at], at % hidden);
    }
  }
  return result;
}

template <class T>
moe::Handle dispatch(moe::Plan& plan, const MoeBatch<T>& batch, const MoeStyle& style) {
  const std::size_t hidden = plan.options().hidden;
  const auto x = spread(batch.x, hidden, style.gap, from_float<T>(77));
  const std::vector<std::int32_t> narrow(batch.ids.begin(), batch.ids.end());
  const moe::Ids ids = style.narrow_ids ? moe::Ids(narrow) : moe::Ids(batch.ids);
  const moe::Mask mask = batch.mask.empty() ? moe::Mask() : moe::Mask(batch.mask);
  std::vector<float> weights = batch.weights;
  if (style.late_weights) weights.clear();
  return plan.dispatch({x.data(), batch.tokens, style.gap == 0 ? 0 : hidden + style.gap}, ids,
                       weights, mask);
}

/// The combine of a round, checked with guards: returns the outputs, [tokens, hidden].
template <class T>
std::vector<T> combine(moe::Plan& plan, const MoeShape& shape, const MoeBatch<T>& batch, int pe,
                       const moe::Handle& handle, const MoeStyle& style) {
  const std::size_t hidden = shape.hidden;
  const std::size_t pitch = hidden + style.gap;
  const T guard = from_float<T>(-123);
  std::vector<T> out(batch.tokens * pitch, guard);
  const moe::MutableRows to(out.data(), batch.tokens, pitch);
  const std::vector<T> y = experts_of<T>(plan, handle);
  if (style.output_rows) {
    std::copy(y.begin(), y.end(), handle.template output_rows<T>().begin());
    if (style.late_weights) {
      plan.combine({handle.template output_rows<T>().data(), handle.total()}, handle, batch.weights,
                   to);
    } else {
      plan.combine(handle, to);
    }
  } else {
    const auto rows = spread(y, hidden, style.gap, guard);
    const moe::ConstRows from(rows.data(), handle.total(), pitch);
    style.late_weights ? plan.combine(from, handle, batch.weights, to)
                       : plan.combine(from, handle, to);
  }
  std::vector<T> result;
  const bool keep = plan.options().inactive == moe::Inactive::Keep;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t token = i / pitch;
    const std::size_t h = i % pitch;
    const bool touched = h < hidden && (batch.active(token) || !keep);
    const T expected = touched ? reference_output(shape, batch, token, h) : guard;
    if (!(out[i] == expected)) {
      ADD_FAILURE() << style.name << " PE " << pe << " token " << token << " element " << h
                    << ": expected " << as_float(expected) << ", got " << as_float(out[i]);
      return {};
    }
    if (h < hidden) result.push_back(out[i]);
  }
  return result;
}

template <class T>
std::vector<T> check_round(Team& team, moe::Plan& plan, const MoeShape& shape,
                           const std::vector<MoeBatch<T>>& batches, const MoeStyle& style,
                           const std::function<void()>& between = {}) {
  const MoeBatch<T>& mine = batches[static_cast<std::size_t>(team.pe())];
  const moe::Handle handle = dispatch(plan, mine, style);
  if (between) between();
  check_handle(shape, batches, team.pe(), plan, handle, style.name);
  return combine(plan, shape, mine, team.pe(), handle, style);
}

}  // namespace tutti::tests
