// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/team.hpp"
#include "tutti/types.hpp"

/// Mixture of experts: tokens travel to the PEs of their experts and come back as weighted sums.
namespace tutti::moe {

struct PlanState;

/// What `combine` does with the output rows of tokens that a mask leaves out.
enum class Inactive : std::uint8_t {
  Zero,  ///< writes zeros
  Keep,  ///< does not touch them
};

/// The facts of an MoE layer. All but `inactive` are equal on all PEs.
struct PlanOptions {
  int experts = 0;             ///< E, of the whole team
  int topk = 0;                ///< K, ids a token
  std::size_t hidden = 0;      ///< H, elements of a row
  std::size_t max_tokens = 0;  ///< most tokens of one PE in one dispatch
  DType dtype = DType::BF16;   ///< of x, rows and out: F32, BF16 or F16
  /// [experts]: the PE of each expert. Empty: contiguous blocks whose sizes differ by at most one;
  /// PEs may be left without an expert.
  std::vector<int> placement = {};
  int padding = 1;  ///< rows of an expert are rounded up to a multiple: a power of two to 1024
  Inactive inactive = Inactive::Zero;
  /// Most rows (without padding) that one PE can receive in one dispatch. 0: enough whatever the
  /// router does with ids that are distinct within a token, that is
  /// pes * max_tokens * min(topk, most experts of a PE).
  std::size_t max_rows = 0;
  int lane = 0;               ///< 0 to 3: plans on different lanes may be used by different threads
  std::string dispatch = {};  ///< an algorithm's name; empty: the first of its registry
  std::string combine = {};
};

/// Where a received row came from. Layout-equal to a row of the seed's assist_info_for_combine.
struct RowSource {
  std::int32_t pe = -1;  ///< -1 in a row of padding
  std::int32_t token = -1;
  std::int32_t k = -1;
  friend bool operator==(const RowSource&, const RowSource&) = default;
};

/// A matrix of the caller's: `rows` rows of H elements that begin `stride` elements apart; 0 means
/// packed. May be null if `rows` is 0.
struct ConstRows {
  template <Element T>
  ConstRows(const T* at, std::size_t n, std::size_t row_stride = 0) noexcept
      : data(at), rows(n), stride(row_stride), dtype(dtype_of<T>) {}
  const void* data;
  std::size_t rows;
  std::size_t stride;
  DType dtype;
};
struct MutableRows {
  template <Element T>
  requires(!std::is_const_v<T>) MutableRows(T* at, std::size_t n, std::size_t row_stride = 0)
  noexcept : data(at), rows(n), stride(row_stride), dtype(dtype_of<T>) {}
  void* data;
  std::size_t rows;
  std::size_t stride;
  DType dtype;
};

/// [tokens, topk] expert ids, int32 or int64, packed.
struct Ids {
  template <std::ranges::contiguous_range R>
  requires std::same_as<std::ranges::range_value_t<R>, std::int32_t> ||
      std::same_as<std::ranges::range_value_t<R>, std::int64_t>
      Ids(const R& range)
  noexcept  // NOLINT: converts on purpose
      : data(std::ranges::data(range)),
        size(std::ranges::size(range)),
        wide(sizeof(std::ranges::range_value_t<R>) == 8) {}
  const void* data;
  std::size_t size;
  bool wide;
};

/// [tokens], not 0 = active; integers or bool. Without one every token is active.
struct Mask {
  Mask() noexcept = default;
  template <std::ranges::contiguous_range R>
  requires std::integral<std::ranges::range_value_t<R>> Mask(const R& range)
  noexcept  // NOLINT: converts on purpose
      : data(std::ranges::data(range)),
        size(std::ranges::size(range)),
        width(sizeof(std::ranges::range_value_t<R>)),
        given(true) {}
  const void* data = nullptr;
  std::size_t size = 0;
  std::size_t width = 1;  ///< bytes of one flag
  bool given = false;
};

/// What one dispatch brought to this PE. Valid until the next dispatch of its plan; after that
/// every function throws `Error` (InvalidArgument). Copies are the same handle.
///
/// Order of rows: local expert ascending, then source PE ascending, then the sender's (token, k).
class TUTTI_API Handle {
 public:
  Handle() noexcept = default;

  /// Rows received, with padding: what `rows` and `output_rows` hold.
  std::size_t total() const;
  /// [local experts] rows of each of my experts, without padding.
  std::span<const std::int32_t> counts() const;
  /// [local experts + 1] first row of each of my experts, then `total()`.
  std::span<const std::int64_t> offsets() const;
  /// [total] where each row came from.
  std::span<const RowSource> sources() const;

  /// [total, hidden] the tokens, packed. Rows of padding are zero. T is the plan's type.
  template <Element T>
  std::span<const T> rows() const {
    return {static_cast<const T*>(received(dtype_of<T>)), elements()};
  }
  /// [total, hidden] symmetric memory for the experts' outputs, packed: peers read it in `combine`,
  /// so that nothing is copied. What is in it before that is undefined; rows of padding need not
  /// be written.
  template <Element T>
  std::span<T> output_rows() const {
    return {static_cast<T*>(outputs(dtype_of<T>)), elements()};
  }

 private:
  friend class Plan;
  Handle(std::shared_ptr<PlanState> plan, std::uint64_t serial) noexcept
      : plan_(std::move(plan)), serial_(serial) {}
  const PlanState& state() const;
  std::size_t elements() const;
  const void* received(DType as) const;
  void* outputs(DType as) const;

  std::shared_ptr<PlanState> plan_;
  std::uint64_t serial_ = 0;
};

/// An MoE layer's exchange on a team: owns all the memory it needs, bounded by its options.
///
/// Calls are collective, in the same order on all PEs. One handle is in use at a time:
/// micro-batches that overlap take a plan each. Not thread-safe; the destructor is local and never
/// waits.
class TUTTI_API Plan {
 public:
  /// Collective, on lane 0. Errors, the same on all PEs, the team stays usable: `InvalidArgument`
  /// for options out of range, `Mismatch` for options that differ, `OutOfMemory`.
  Plan(Team& team, const PlanOptions& options);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  const PlanOptions& options() const noexcept;
  /// My experts, ascending: index i of `counts` and `offsets` is expert `local_experts()[i]`.
  std::span<const int> local_experts() const noexcept;
  /// Most rows, without padding, that one PE can receive.
  std::size_t max_rows() const noexcept;
  /// Symmetric memory that each PE owns, in bytes.
  std::size_t symmetric_bytes() const noexcept;

  /// Sends each token to the PEs of its experts. Collective; blocks until all have called.
  ///
  /// x: [B, H], B <= max_tokens; B may differ from PE to PE and be 0. ids: [B, K]; -1 contributes
  /// nothing, an id that occurs twice counts twice. weights: [B, K], copied; never read where the
  /// id is -1 or the token is inactive; may be empty if `combine` is given them. mask: [B]; ids of
  /// inactive tokens are not read. The inputs may be reused on return.
  ///
  /// Errors, the same on all PEs, the team and the plan stay usable: `InvalidArgument` for an id
  /// out of range (names PE, token, k and id) and for arguments that one PE refuses; `OutOfMemory`
  /// if a PE would receive more than `max_rows`. As in all calls: `Mismatch`, `PeerFailed`, ...
  Handle dispatch(ConstRows x, Ids ids, std::span<const float> weights, Mask mask = {});

  /// out[t] = sum over k of weight[t, k] * y[t, k]: in f32, products rounded, added in k order to
  /// +0, then rounded once to the plan's type. Given y, the bits depend neither on the number of
  /// PEs nor on the placement. Collective; blocks until all have called; once for each handle.
  ///
  /// rows: [total, H] outputs of my experts in the order of `handle.rows()`; if it is
  /// `handle.output_rows()`, nothing is copied. out: [B, H]. A token whose ids are all -1 gets
  /// zeros; `PlanOptions::inactive` says what inactive ones get.
  ///
  /// Errors, the same on all PEs, the team stays usable: `InvalidArgument` for arguments that one
  /// PE refuses; the handle may be combined again then. `out` is not touched.
  void combine(ConstRows rows, const Handle& handle, MutableRows out);
  /// The same with `weights` [B, K] in place of those of the dispatch.
  void combine(ConstRows rows, const Handle& handle, std::span<const float> weights,
               MutableRows out);
  /// The same with the outputs in `handle.output_rows()`.
  void combine(const Handle& handle, MutableRows out);

 private:
  void combine_any(const ConstRows* rows, const Handle& handle,
                   const std::span<const float>* weights, MutableRows out);
  std::shared_ptr<PlanState> state_;
};

struct DispatchCall;
struct CombineCall;

/// One way to do one half. Descriptors are constants; a registry is an array of pointers to them.
struct DispatchAlgorithm {
  const char* name;     ///< one snake_case word
  const char* summary;  ///< one line
  const char* source;
  void (*run)(DispatchCall&);
};
struct CombineAlgorithm {
  const char* name;
  const char* summary;
  const char* source;
  void (*run)(CombineCall&);
};

/// The built-in algorithms; the first is used where nothing else is said.
TUTTI_API std::span<const DispatchAlgorithm* const> dispatch_algorithms() noexcept;
TUTTI_API std::span<const CombineAlgorithm* const> combine_algorithms() noexcept;

/// The results of the seed's dispatch. Views of the plan's memory, valid as long as `handle`.
template <Element T>
struct SeedDispatch {
  Handle handle;
  std::span<const T> expand_x;                            ///< [recv_counts, H]
  std::span<const std::int32_t> assist_info_for_combine;  ///< [recv_counts, 3]: rank, token, k
  std::span<const std::int32_t> expert_token_nums;        ///< [local experts]
  std::int32_t recv_counts = 0;
};

/// The seed's `moe_distributed_dispatch`: x [B, H], expert_ids [B, K], x_active_mask [B] (any mask,
/// not only prefixes). The plan's padding must be 1. Rows, in the seed's order bit for bit; those
/// behind `recv_counts`, which the seed leaves unspecified, are left out. Errors as in `dispatch`.
template <Element T>
SeedDispatch<T> seed_dispatch(Plan& plan, const T* x, std::size_t tokens, Ids expert_ids,
                              Mask x_active_mask = {}) {
  if (plan.options().padding != 1) {
    throw Error(ErrorCode::InvalidArgument, "seed_dispatch: the plan's padding must be 1");
  }
  SeedDispatch<T> result{plan.dispatch({x, tokens}, expert_ids, {}, x_active_mask), {}, {}, {}};
  result.expand_x = result.handle.template rows<T>();
  const std::span<const RowSource> sources = result.handle.sources();
  static_assert(sizeof(RowSource) == 3 * sizeof(std::int32_t));
  if (!sources.empty()) result.assist_info_for_combine = {&sources[0].pe, 3 * sources.size()};
  result.expert_token_nums = result.handle.counts();
  result.recv_counts = static_cast<std::int32_t>(result.handle.total());
  return result;
}

/// The seed's `moe_distributed_combine`: expand_x [recv_counts, H] expert outputs in the order of
/// the dispatch, expert_scales [B, K], out [B, H]. With `Inactive::Keep` inactive rows are not
/// written, as in the seed. Where rows go is known to the plan: assist_info_for_combine need not
/// be handed back. Errors as in `combine`.
template <Element T>
void seed_combine(Plan& plan, std::span<const T> expand_x, const Handle& handle,
                  std::span<const float> expert_scales, T* out, std::size_t tokens) {
  const std::size_t hidden = plan.options().hidden;
  plan.combine({expand_x.data(), expand_x.size() / hidden}, handle, expert_scales, {out, tokens});
}

}  // namespace tutti::moe
