// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "collectives/tuner/suggest.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/error.hpp"
#include "tutti/measured.hpp"
#include "tutti/problem.hpp"
#include "tutti/tuning.hpp"

namespace tutti {
namespace {

constexpr std::array<std::string_view, kCollectives> kCollectiveNames = {
    "allreduce", "allgather",  "reduce_scatter",  "broadcast", "reduce",  "gather",   "scatter",
    "alltoall",  "allgatherv", "reduce_scatterv", "alltoallv", "gatherv", "scatterv", "ring_shift"};
constexpr std::array<std::string_view, 2> kMemoryNames = {"private", "symmetric"};
constexpr std::array<std::string_view, 2> kContractNames = {"consistent", "ordered"};
constexpr std::array<std::string_view, 5> kWhereNames = {"call", "environment", "file", "built-in",
                                                         "model"};
constexpr std::array<std::string_view, kCycles> kCycleNames = {"same", "rotate", "decode", "skew"};
constexpr std::array<std::string_view, kStatuses> kStatusNames = {"measured", "wrong", "failed",
                                                                  "skipped", "hung"};

template <class Enum, std::size_t kSize>
std::string_view name_in(const std::array<std::string_view, kSize>& names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < kSize ? names[index] : std::string_view("unknown");
}

template <class Enum, std::size_t kSize>
Enum value_in(const std::array<std::string_view, kSize>& names, std::string_view name,
              std::string_view kind) {
  for (std::size_t i = 0; i < kSize; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw Error(ErrorCode::InvalidArgument, detail::unknown_name(kind, name, names));
}

}  // namespace

std::string_view name_of(Collective collective) noexcept {
  return name_in(kCollectiveNames, collective);
}
std::string_view name_of(Memory memory) noexcept { return name_in(kMemoryNames, memory); }
std::string_view name_of(Contract contract) noexcept { return name_in(kContractNames, contract); }
std::string_view name_of(Where where) noexcept { return name_in(kWhereNames, where); }
std::string_view name_of(Cycle cycle) noexcept { return name_in(kCycleNames, cycle); }
std::string_view name_of(MeasuredCandidate::Status status) noexcept {
  return name_in(kStatusNames, status);
}

Cycle cycle_from(std::string_view name) { return value_in<Cycle>(kCycleNames, name, "cycle"); }

Collective collective_from(std::string_view name) {
  return value_in<Collective>(kCollectiveNames, name, "collective");
}
Memory memory_from(std::string_view name) {
  return value_in<Memory>(kMemoryNames, name, "memory kind");
}
Contract contract_from(std::string_view name) {
  return value_in<Contract>(kContractNames, name, "contract");
}

Params initial_params(const Algorithm& algorithm) {
  Params params;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    params[i] = algorithm.parameters[i].initial;
  }
  return params;
}

std::string describe(const Algorithm& algorithm, const Params& params) {
  std::string text = algorithm.name;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const Parameter& parameter = algorithm.parameters[i];
    const auto value = static_cast<std::size_t>(params[i]);
    text.append(i == 0 ? ":" : ",").append(parameter.name).append("=");
    text.append(value < parameter.choices.size() ? std::string(parameter.choices[value])
                                                 : std::to_string(params[i]));
  }
  return text;
}

}  // namespace tutti
