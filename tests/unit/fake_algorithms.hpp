// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collectives/tuner/catalog.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/execution.hpp"
#include "tutti/problem.hpp"

/// Descriptors with the names of the library's algorithms and bodies that do nothing, so that the
/// tuner is tested without them.
namespace tutti::fake {

inline constexpr std::array<const char*, 2> kStores = {"cached", "stream"};
inline constexpr std::array kShotParameters = {
    Parameter{"slots", 1, 64, 2, "staging slots", {}},
    Parameter{"chunk_bytes", 64, 16 << 20, 65536, "bytes of a chunk", {}},
    Parameter{"store", 0, 1, 0, "how stores reach memory", kStores},
    Parameter{"bias", -8, 8, 0, "a number that may be negative", {}},
    Parameter{"lag", 0, 4, 0, "chunks between writing and reading", {}},
};
inline constexpr std::array kStoreParameters = {
    Parameter{"store", 0, 1, 0, "how stores reach memory", kStores},
    Parameter{"results", 0, 1, 0, "how results are written", kStores},
};
inline constexpr std::array kTwoShotParameters = {
    Parameter{"chunk_bytes", 64, 16 << 20, 32768, "bytes of a chunk", {}},
    Parameter{"store", 0, 1, 0, "how stores reach memory", kStores},
    Parameter{"lag", 0, 4, 0, "chunks between writing and reading", {}},
    Parameter{"results", 0, 1, 0, "how results are written", kStores},
};
inline constexpr std::array kChunkParameters = {
    Parameter{"chunk_bytes", 64, 16 << 20, 32768, "bytes of a chunk", {}},
};

inline const char* any(const Problem&) { return nullptr; }
inline const char* one_line_only(const Problem& problem) {
  return bytes_of(problem) <= Execution::kLinePayload ? nullptr : "more than 56 bytes";
}
inline const char* one_line_block_only(const Problem& problem) {
  return problem.count * size_of(problem.dtype) <= Execution::kLinePayload ? nullptr
                                                                           : "more than 56 bytes";
}
inline const char* symmetric_only(const Problem& problem) {
  return problem.memory == Memory::Symmetric ? nullptr : "needs symmetric memory";
}
inline std::size_t no_scratch(const Problem&, const Params&) { return 0; }
inline void nothing(Execution&, const Params&) {}

inline Traffic one_step(const Problem& problem, const Params&, int) {
  const auto peers = static_cast<std::uint64_t>(problem.pes - 1);
  const std::uint64_t bytes = problem.count * size_of(problem.dtype);
  return {1, bytes, peers * bytes, (peers + 1) * bytes};
}
inline Traffic two_steps(const Problem& problem, const Params&, int) {
  const std::uint64_t bytes = problem.count * size_of(problem.dtype);
  return {2, bytes, 2 * bytes, 2 * bytes};
}
inline Traffic ring_steps(const Problem& problem, const Params&, int) {
  const auto steps = static_cast<std::uint64_t>(2 * (problem.pes - 1));
  const std::uint64_t bytes = problem.count * size_of(problem.dtype);
  return {steps, 2 * bytes, 2 * bytes, 2 * bytes};
}

inline constexpr bool kOrdered = true;
using enum Collective;
inline constexpr Algorithm kOneLine{Allreduce, "one_line",    "",         "",       kOrdered,
                                    {},        one_line_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kOneShot{Allreduce,       "one_shot", "",         "",       kOrdered,
                                    kShotParameters, any,        no_scratch, one_step, nothing};
inline constexpr Algorithm kTwoShot{Allreduce,          "two_shot", "",         "",        kOrdered,
                                    kTwoShotParameters, any,        no_scratch, two_steps, nothing};
inline constexpr Algorithm kSymmetricPush{
    Allreduce, "symmetric_push", "",         "",        kOrdered,
    {},        symmetric_only,   no_scratch, two_steps, nothing};
inline constexpr Algorithm kRing{Allreduce,        "ring", "",         "",         !kOrdered,
                                 kChunkParameters, any,    no_scratch, ring_steps, nothing};
inline constexpr Algorithm kAllgatherDirect{
    Allgather, "direct", "", "", kOrdered, kStoreParameters, any, no_scratch, one_step, nothing};
inline constexpr Algorithm kAllgatherRing{Allgather, "ring", "",         "",         !kOrdered,
                                          {},        any,    no_scratch, ring_steps, nothing};
inline constexpr Algorithm kReduceScatterDirect{ReduceScatter, "direct",         "",  "",
                                                kOrdered,      kStoreParameters, any, no_scratch,
                                                one_step,      nothing};
inline constexpr Algorithm kReduceScatterRing{
    ReduceScatter, "ring", "", "", !kOrdered, {}, any, no_scratch, ring_steps, nothing};
inline constexpr Algorithm kFlat{Broadcast,        "flat", "",         "",       kOrdered,
                                 kStoreParameters, any,    no_scratch, one_step, nothing};
inline constexpr Algorithm kBinomial{Broadcast, "binomial", "",         "",       kOrdered,
                                     {},        any,        no_scratch, one_step, nothing};

inline constexpr Algorithm kReduceDirect{Reduce,           "direct", "",         "",       kOrdered,
                                         kStoreParameters, any,      no_scratch, one_step, nothing};
inline constexpr Algorithm kGatherDirect{Gather,           "direct", "",         "",       kOrdered,
                                         kStoreParameters, any,      no_scratch, one_step, nothing};
inline constexpr Algorithm kScatterDirect{
    Scatter, "direct", "", "", kOrdered, kStoreParameters, any, no_scratch, one_step, nothing};
inline constexpr Algorithm kAlltoallDirect{
    Alltoall, "direct", "", "", kOrdered, kStoreParameters, any, no_scratch, one_step, nothing};
inline constexpr Algorithm kBroadcastOneLine{
    Broadcast, "one_line", "", "", kOrdered, {}, one_line_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kReduceOneLine{Reduce, "one_line",    "",         "",       kOrdered,
                                          {},     one_line_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kGatherOneLine{
    Gather, "one_line", "", "", kOrdered, {}, one_line_block_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kScatterOneLine{Scatter, "one_line",    "",         "",       kOrdered,
                                           {},      one_line_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kAllgatherOneLine{
    Allgather, "one_line",          "",         "",       kOrdered,
    {},        one_line_block_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kReduceScatterOneLine{
    ReduceScatter, "one_line", "", "", kOrdered, {}, one_line_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kAlltoallOneLine{Alltoall, "one_line",    "",         "",       kOrdered,
                                            {},       one_line_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kAllgathervDirect{Allgatherv, "direct", "",         "",       kOrdered,
                                             {},         any,      no_scratch, one_step, nothing};
inline constexpr Algorithm kReduceScattervDirect{
    ReduceScatterv, "direct", "", "", kOrdered, {}, any, no_scratch, one_step, nothing};
inline constexpr Algorithm kAlltoallvDirect{Alltoallv, "direct", "",         "",       kOrdered,
                                            {},        any,      no_scratch, one_step, nothing};
inline constexpr Algorithm kGathervDirect{Gatherv, "direct", "",         "",       kOrdered,
                                          {},      any,      no_scratch, one_step, nothing};
inline constexpr Algorithm kScattervDirect{Scatterv, "direct", "",         "",       kOrdered,
                                           {},       any,      no_scratch, one_step, nothing};
inline constexpr Algorithm kRingShiftOneLine{
    RingShift, "one_line", "", "", kOrdered, {}, one_line_only, no_scratch, one_step, nothing};
inline constexpr Algorithm kRingShiftDirect{
    RingShift, "direct", "", "", kOrdered, kStoreParameters, any, no_scratch, one_step, nothing};
inline constexpr Algorithm kRingShiftSymmetricPush{
    RingShift, "symmetric_push", "",         "",        kOrdered,
    {},        symmetric_only,   no_scratch, two_steps, nothing};
inline constexpr Algorithm kAllgatherSymmetricPush{
    Allgather, "symmetric_push", "",         "",        kOrdered,
    {},        symmetric_only,   no_scratch, two_steps, nothing};
inline constexpr Algorithm kReduceScatterSymmetricPull{
    ReduceScatter,  "symmetric_pull", "",        "",     kOrdered, {},
    symmetric_only, no_scratch,       two_steps, nothing};

inline constexpr std::array kAll = {&kOneLine,
                                    &kOneShot,
                                    &kTwoShot,
                                    &kSymmetricPush,
                                    &kRing,
                                    &kAllgatherDirect,
                                    &kAllgatherRing,
                                    &kReduceScatterDirect,
                                    &kReduceScatterRing,
                                    &kFlat,
                                    &kBinomial,
                                    &kReduceDirect,
                                    &kGatherDirect,
                                    &kScatterDirect,
                                    &kAlltoallDirect,
                                    &kBroadcastOneLine,
                                    &kReduceOneLine,
                                    &kGatherOneLine,
                                    &kScatterOneLine,
                                    &kAllgatherOneLine,
                                    &kReduceScatterOneLine,
                                    &kAlltoallOneLine,
                                    &kAllgathervDirect,
                                    &kReduceScattervDirect,
                                    &kAlltoallvDirect,
                                    &kGathervDirect,
                                    &kScattervDirect,
                                    &kRingShiftOneLine,
                                    &kRingShiftDirect,
                                    &kRingShiftSymmetricPush,
                                    &kAllgatherSymmetricPush,
                                    &kReduceScatterSymmetricPull};

inline const detail::Catalog& catalog() {
  static const detail::Catalog catalog(kAll);
  return catalog;
}

}  // namespace tutti::fake
