// SPDX-License-Identifier: Apache-2.0
#include "moe/plan_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

#include "moe/registry.hpp"
#include "primitives/team_state.hpp"
#include "tutti/error.hpp"

namespace tutti::moe {
namespace {

constexpr std::size_t kMostRows = std::size_t{1} << 31;
constexpr int kMostPadding = 1024;
constexpr double kMostBytes = 0x1p44;

/// FNV-1a.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  return hash;
}

template <class Registry>
auto find(const Registry& registry, std::string_view name) {
  const auto at = std::ranges::find_if(
      registry, [&](const auto* each) { return name.empty() || name == each->name; });
  return at == registry.end() ? nullptr : *at;
}

template <class Registry>
std::string names(const Registry& registry) {
  std::string text;
  for (const auto* each : registry) text += (text.empty() ? "" : ", ") + std::string(each->name);
  return text;
}

std::string placement_problem(const PlanOptions& options, int pes) {
  const auto& table = options.placement;
  if (table.empty()) return {};
  if (table.size() != static_cast<std::size_t>(options.experts)) {
    return fmt::format("placement has {} entries, it must have one for each of {} experts",
                       table.size(), options.experts);
  }
  for (std::size_t expert = 0; expert < table.size(); ++expert) {
    if (table[expert] >= 0 && table[expert] < pes) continue;
    return fmt::format("placement puts expert {} on PE {}; allowed are 0 to {}", expert,
                       table[expert], pes - 1);
  }
  return {};
}

/// Why these options are out of range, or nothing.
std::string problem_with(const PlanOptions& options, int pes) {
  if (options.experts < 1) return fmt::format("{} experts; at least 1 is needed", options.experts);
  if (options.topk < 1) return fmt::format("topk is {}; at least 1 is needed", options.topk);
  if (options.hidden < 1) return "hidden is 0; at least 1 is needed";
  if (options.dtype != DType::F32 && options.dtype != DType::BF16 && options.dtype != DType::F16) {
    return fmt::format("type {} is not supported; valid are: f32, bf16, f16",
                       name_of(options.dtype));
  }
  if (options.padding < 1 || options.padding > kMostPadding ||
      !std::has_single_bit(static_cast<unsigned>(options.padding))) {
    return fmt::format("padding is {}; allowed are powers of two from 1 to {}", options.padding,
                       kMostPadding);
  }
  if (options.lane < 0 || options.lane >= detail::kLanes) {
    return fmt::format("lane is {}; allowed are 0 to {}", options.lane, detail::kLanes - 1);
  }
  if (options.max_tokens >= kMostRows / static_cast<std::size_t>(options.topk)) {
    return fmt::format("max_tokens {} times topk {} is too much; it must stay below 2^31",
                       options.max_tokens, options.topk);
  }
  if (find(kDispatchAlgorithms, options.dispatch) == nullptr) {
    return fmt::format("unknown dispatch algorithm \"{}\"; valid are: {}", options.dispatch,
                       names(kDispatchAlgorithms));
  }
  if (find(kCombineAlgorithms, options.combine) == nullptr) {
    return fmt::format("unknown combine algorithm \"{}\"; valid are: {}", options.combine,
                       names(kCombineAlgorithms));
  }
  return placement_problem(options, pes);
}

/// What each PE says of its options, so that all can tell whether they agree.
constexpr std::array<const char*, 11> kFields = {"experts",   "topk",     "hidden",   "max_tokens",
                                                 "dtype",     "padding",  "max_rows", "lane",
                                                 "placement", "dispatch", "combine"};

struct Offer {
  std::array<std::uint64_t, kFields.size()> fields{};
  std::array<char, kTextBytes> problem{};
};
static_assert(sizeof(Offer) <= detail::kExchangeBytes);

Offer offer_of(const PlanOptions& options) {
  Offer offer;
  offer.fields = {static_cast<std::uint64_t>(options.experts),
                  static_cast<std::uint64_t>(options.topk),
                  options.hidden,
                  options.max_tokens,
                  static_cast<std::uint64_t>(options.dtype),
                  static_cast<std::uint64_t>(options.padding),
                  options.max_rows,
                  static_cast<std::uint64_t>(options.lane),
                  hash_of(std::as_bytes(std::span(options.placement))),
                  hash_of(std::as_bytes(std::span(options.dispatch))),
                  hash_of(std::as_bytes(std::span(options.combine)))};
  return offer;
}

/// Every PE throws the same, or none does.
void agree(detail::TeamState& team, const Offer& mine) {
  std::vector<Offer> offers(static_cast<std::size_t>(team.pes()));
  team.lane(0).exchange(&mine, sizeof mine, offers.data());
  for (std::size_t pe = 0; pe < offers.size(); ++pe) {
    if (offers[pe].problem[0] == '\0') continue;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("moe plan on team {}: PE {}: {}", team.name(), pe, offers[pe].problem.data()));
  }
  for (std::size_t pe = 1; pe < offers.size(); ++pe) {
    for (std::size_t field = 0; field < kFields.size(); ++field) {
      const std::uint64_t theirs = offers[pe].fields[field];
      const std::uint64_t first = offers[0].fields[field];
      if (theirs == first) continue;
      const bool is_hash = field >= 8;
      throw Error(
          ErrorCode::Mismatch,
          fmt::format("moe plan on team {}: PE 0 and PE {} give different {}{}", team.name(), pe,
                      kFields[field], is_hash ? "" : fmt::format(" ({} and {})", first, theirs)));
    }
  }
}

std::size_t most_rows(const PlanOptions& options, int pes, int most_local) {
  if (options.max_rows != 0) return options.max_rows;
  const int rows_a_token = std::min(options.topk, most_local);
  return static_cast<std::size_t>(pes) * options.max_tokens *
         static_cast<std::size_t>(rows_a_token);
}

std::string size_problem(const PlanState& plan) {
  if (plan.padded_rows >= kMostRows) {
    return fmt::format("a PE could receive {} rows; max_rows and padding must stay below 2^31",
                       plan.padded_rows);
  }
  const double bytes = static_cast<double>(plan.options.hidden) * 4 *
                       static_cast<double>(2 * plan.options.max_tokens + plan.padded_rows);
  if (bytes <= kMostBytes) return {};
  return fmt::format("hidden {}, max_tokens {} and max_rows {} want {:.0f} GiB",
                     plan.options.hidden, plan.options.max_tokens, plan.max_rows, bytes * 0x1p-30);
}

/// All that can be done before the PEs have agreed: sizes and private memory.
void prepare(PlanState& plan) {
  const auto pes = static_cast<std::size_t>(plan.pes());
  const auto topk = static_cast<std::size_t>(plan.options.topk);
  const auto local = static_cast<std::size_t>(plan.local());
  const auto most_local = static_cast<std::size_t>(plan.placement.most_local);
  plan.weights.resize(plan.options.max_tokens * topk);
  plan.counts.resize(local);
  plan.offsets.resize(local + 1);
  plan.base.resize(pes * local);
  plan.sources.resize(plan.padded_rows);
  plan.fold_rows.resize(topk);
  plan.fold_weights.resize(topk);
  plan.row_bytes = plan.options.hidden * size_of(plan.options.dtype);
  plan.layout = lay_out({pes, static_cast<std::size_t>(plan.options.experts), most_local,
                         plan.options.max_tokens, topk, plan.row_bytes, plan.padded_rows});
  plan.dispatch = find(kDispatchAlgorithms, plan.options.dispatch);
  plan.combine = find(kCombineAlgorithms, plan.options.combine);
}

/// Fills what follows from the options; returns why they are refused, or nothing.
std::string set_up(PlanState& plan) {
  std::string problem = problem_with(plan.options, plan.pes());
  if (!problem.empty()) return problem;
  try {
    plan.placement = place(plan.options.experts, plan.pes(), plan.options.placement);
    plan.max_rows = most_rows(plan.options, plan.pes(), plan.placement.most_local);
    plan.padded_rows = plan.max_rows + static_cast<std::size_t>(plan.placement.most_local) *
                                           static_cast<std::size_t>(plan.options.padding - 1);
    problem = size_problem(plan);
    if (!problem.empty()) return problem;
    plan.routing = Routing(plan.placement, plan.options.max_tokens,
                           static_cast<std::size_t>(plan.options.topk));
    prepare(plan);
  } catch (const std::exception& error) {
    return fmt::format("no private memory for the plan: {}", error.what());
  }
  return {};
}

}  // namespace

PlanState::PlanState(Team& on, PlanOptions wanted)
    : team(on), options(std::move(wanted)), routing(Placement{}, 0, 0) {
  detail::TeamState& on_team = team.state();
  Offer offer = offer_of(options);
  const std::string problem = set_up(*this);
  problem.copy(offer.problem.data(), kTextBytes - 1);
  agree(on_team, offer);
  const auto make = [&](std::size_t bytes, detail::Block::Mirrors mirrors, const char* purpose) {
    return detail::Block::create(on_team.shared_world(), on_team.members(), pe(),
                                 {.bytes = bytes, .mirrors = mirrors}, on_team.agreement(),
                                 purpose);
  };
  shared = make(layout.bytes, detail::Block::Mirrors::Yes, "tokens and outputs of a moe plan");
  received = make(padded_rows * row_bytes, detail::Block::Mirrors::No, "rows of a moe plan");
}

detail::Lane& PlanState::lane() const noexcept { return team.state().lane(options.lane); }

void PlanState::begin(detail::CallKind kind) const {
  detail::CallRecord record;
  record.kind = kind;
  record.how = shared->id();  // a call of another plan is another call
  fmt::format_to_n(record.detail.data(), record.detail.size() - 1, "{} E{} K{} H{}",
                   name_of(options.dtype), options.experts, options.topk, options.hidden);
  lane().begin(record);
}

std::string PlanState::operation(detail::CallKind kind) const {
  return fmt::format("{} on team {}", detail::name_of(kind), team.name());
}

std::span<const DispatchAlgorithm* const> dispatch_algorithms() noexcept {
  return kDispatchAlgorithms;
}

std::span<const CombineAlgorithm* const> combine_algorithms() noexcept {
  return kCombineAlgorithms;
}

}  // namespace tutti::moe
