// SPDX-License-Identifier: Apache-2.0
#pragma once

// One MoE layer without PEs: what every PE must receive and give back, written from the contract
// alone. Slow and plain on purpose.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::tests {

template <class T>
T from_float(float value) {
  if constexpr (std::is_same_v<T, f16>) return to_f16(value);
  if constexpr (std::is_same_v<T, bf16>) return to_bf16(value);
  if constexpr (std::is_same_v<T, float>) return value;
}

template <class T>
float as_float(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    return to_float(value);
  }
}

/// The layer, as all PEs know it.
struct MoeShape {
  int experts = 0;
  int topk = 0;
  std::size_t hidden = 0;
  std::vector<int> owner;  ///< [experts]: PE of each expert
};

/// Contiguous blocks, the first ones one longer where the division leaves a rest.
inline std::vector<int> balanced_owners(int experts, int pes) {
  std::vector<int> owner;
  for (int pe = 0; pe < pes; ++pe) {
    const int block = experts / pes + (pe < experts % pes ? 1 : 0);
    owner.insert(owner.end(), static_cast<std::size_t>(block), pe);
  }
  return owner;
}

/// What one PE brings.
template <class T>
struct MoeBatch {
  std::size_t tokens = 0;
  std::vector<T> x;                ///< [tokens, hidden]
  std::vector<std::int64_t> ids;   ///< [tokens, topk]
  std::vector<float> weights;      ///< [tokens, topk]
  std::vector<std::int32_t> mask;  ///< [tokens], or empty: all active

  bool active(std::size_t token) const { return mask.empty() || mask[token] != 0; }
};

struct MoeRow {
  int expert;
  int pe;
  std::size_t token;
  int k;
};

/// The rows of PE `pe` without padding, in the seed's order.
template <class T>
std::vector<MoeRow> reference_rows(const MoeShape& shape, const std::vector<MoeBatch<T>>& batches,
                                   int pe) {
  std::vector<MoeRow> rows;
  for (int expert = 0; expert < shape.experts; ++expert) {
    if (shape.owner[static_cast<std::size_t>(expert)] != pe) continue;
    for (std::size_t source = 0; source < batches.size(); ++source) {
      const MoeBatch<T>& batch = batches[source];
      for (std::size_t token = 0; token < batch.tokens; ++token) {
        for (int k = 0; batch.active(token) && k < shape.topk; ++k) {
          const std::size_t at =
              token * static_cast<std::size_t>(shape.topk) + static_cast<std::size_t>(k);
          if (batch.ids[at] == expert) {
            rows.push_back({expert, static_cast<int>(source), token, k});
          }
        }
      }
    }
  }
  return rows;
}

/// Element `h` of what expert `expert` makes of `x`: any function that tells experts, elements and
/// inputs apart.
template <class T>
T reference_expert(int expert, T x, std::size_t h) {
  return from_float<T>(as_float(x) * static_cast<float>(expert + 1) +
                       static_cast<float>(h % 5) * 0.25f);
}

/// Element `h` of the output of `token`: zero if it is inactive.
template <class T>
T reference_output(const MoeShape& shape, const MoeBatch<T>& batch, std::size_t token,
                   std::size_t h) {
  float sum = 0;
  for (int k = 0; batch.active(token) && k < shape.topk; ++k) {
    const std::size_t at =
        token * static_cast<std::size_t>(shape.topk) + static_cast<std::size_t>(k);
    if (batch.ids[at] == -1) continue;
    const T y =
        reference_expert(static_cast<int>(batch.ids[at]), batch.x[token * shape.hidden + h], h);
    const float product = batch.weights[at] * as_float(y);
    sum = sum + product;
  }
  return from_float<T>(sum);
}

/// A number that depends on all that it is given.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0,
                           std::uint64_t d = 0) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const std::uint64_t each : {a, b, c, d}) {
    hash = (hash ^ each) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
  }
  return hash * 0x94d049bb133111ebu >> 16;
}

enum class Router { Random, OneExpert, Repeated };

/// A batch that is a function of (seed, PE): random values, ids with some -1, any mask.
template <class T>
MoeBatch<T> make_batch(const MoeShape& shape, std::uint64_t seed, int pe, std::size_t tokens,
                       bool masked, Router router = Router::Random) {
  MoeBatch<T> batch;
  batch.tokens = tokens;
  const auto me = static_cast<std::uint64_t>(pe);
  for (std::size_t i = 0; i < tokens * shape.hidden; ++i) {
    const auto value = static_cast<float>(mixed(seed, me, i, 1) % 4001) / 1000.0f - 2.0f;
    batch.x.push_back(from_float<T>(value));
  }
  const auto topk = static_cast<std::size_t>(shape.topk);
  const auto experts = static_cast<std::uint64_t>(shape.experts);
  for (std::size_t i = 0; i < tokens * topk; ++i) {
    std::uint64_t id = mixed(seed, me, i / topk, 2) + i % topk;  // distinct in a token if K <= E
    if (router == Router::OneExpert) id = seed;
    if (router == Router::Repeated) id = mixed(seed, me, i, 3);
    const bool none = mixed(seed, me, i, 4) % 8 == 0;
    batch.ids.push_back(none ? -1 : static_cast<std::int64_t>(id % experts));
    batch.weights.push_back(static_cast<float>(mixed(seed, me, i, 5) % 1000) / 999.0f);
  }
  for (std::size_t token = 0; masked && token < tokens; ++token) {
    batch.mask.push_back(mixed(seed, me, token, 6) % 3 == 0 ? 0 : 1);
  }
  return batch;
}

}  // namespace tutti::tests
