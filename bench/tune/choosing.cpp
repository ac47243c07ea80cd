// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/choosing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>

namespace tutti::bench {
namespace {

constexpr double kNearestNeighbours = 1.3;
constexpr std::size_t kGrain = 64;

double median_of(const std::vector<double>& samples) { return estimate(samples).median; }

/// What one row has in common.
auto kind_of(const MeasuredPoint& point) {
  return std::tuple(point.collective, point.pes, point.dtype, point.op, point.memory,
                    point.contract, regime_at(point.line_ns));
}

double best_regret(const MeasuredPoint& point) {
  double best = std::numeric_limits<double>::infinity();
  for (const MeasuredCandidate& candidate : point.candidates) {
    if (was_measured(candidate)) best = std::min(best, candidate.regret);
  }
  return best;
}

/// How much slower than the best the choice is here, by its first look if that is all there is;
/// infinite if it never ran.
double loss(const MeasuredPoint& point, std::string_view choice) {
  const MeasuredCandidate* here = find_candidate(point, choice);
  const bool ran = here != nullptr && !is_broken(*here) && here->regret > 0;
  if (!ran) return std::numeric_limits<double>::infinity();
  return here->regret / best_regret(point) - 1;
}

/// What a rule would say at a point, "" for the built-in choice.
std::string_view ruled(const MeasuredPoint& point, const MeasuredCandidate* winner) {
  if (winner == nullptr || !deserves_rule(point, *winner)) return {};
  return winner->choice;
}

}  // namespace

bool is_broken(const MeasuredCandidate& candidate) {
  using Status = MeasuredCandidate::Status;
  return candidate.status == Status::Wrong || candidate.status == Status::Failed ||
         candidate.status == Status::Hung;
}

bool ended_sweep(const MeasuredPoint& point) {
  const auto hung = [](const MeasuredCandidate& candidate) {
    return candidate.status == MeasuredCandidate::Status::Hung;
  };
  return point.rounds == 0 && std::ranges::all_of(point.candidates, hung);
}

bool was_measured(const MeasuredCandidate& candidate) {
  return candidate.status == MeasuredCandidate::Status::Measured && candidate.regret > 0;
}

const MeasuredCandidate* find_candidate(const MeasuredPoint& point, std::string_view choice) {
  const auto found = std::ranges::find(point.candidates, choice, &MeasuredCandidate::choice);
  return found == point.candidates.end() ? nullptr : &*found;
}

std::size_t halfway(std::size_t a, std::size_t b) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(a) * static_cast<double>(b)));
}

Rounds half_of(const Rounds& rounds, std::size_t first) {
  Rounds half(rounds.size());
  for (std::size_t c = 0; c < rounds.size(); ++c) {
    for (std::size_t i = first; i < rounds[c].size(); i += 2) half[c].push_back(rounds[c][i]);
  }
  return half;
}

Rounds rounds_in(const Rounds& rounds, std::span<const double> line_ns, std::string_view regime) {
  Rounds kept(rounds.size());
  for (std::size_t c = 0; c < rounds.size(); ++c) {
    for (std::size_t i = 0; i < std::min(rounds[c].size(), line_ns.size()); ++i) {
      if (regime_at(line_ns[i]) == regime) kept[c].push_back(rounds[c][i]);
    }
  }
  return kept;
}

std::vector<double> regrets(std::span<const Rounds> cycles) {
  std::vector<double> regret(cycles.empty() ? 0 : cycles[0].size(), 1);
  for (const Rounds& rounds : cycles) {
    std::size_t best = rounds.size();
    for (std::size_t c = 0; c < rounds.size(); ++c) {
      if (rounds[c].empty()) continue;
      if (best == rounds.size() || median_of(rounds[c]) < median_of(rounds[best])) best = c;
    }
    for (std::size_t c = 0; c < rounds.size(); ++c) {
      const double times = rounds[c].empty() ? 0 : median_of(ratios(rounds[c], rounds[best]));
      regret[c] *= std::pow(times, 1.0 / static_cast<double>(cycles.size()));
    }
  }
  return regret;
}

std::optional<Estimate> ratio_over_cycles(std::span<const Rounds> cycles, std::size_t reference,
                                          std::size_t candidate) {
  if (cycles.empty()) return std::nullopt;
  std::size_t rounds = std::numeric_limits<std::size_t>::max();
  std::vector<std::vector<double>> by_cycle;
  for (const Rounds& cycle : cycles) {
    by_cycle.push_back(ratios(cycle[reference], cycle[candidate]));
    rounds = std::min(rounds, by_cycle.back().size());
  }
  if (rounds == 0) return std::nullopt;
  std::vector<double> means(rounds);
  for (std::size_t i = 0; i < rounds; ++i) {
    double sum = 0;
    for (const std::vector<double>& each : by_cycle) sum += std::log(each[i]);
    means[i] = std::exp(sum / static_cast<double>(by_cycle.size()));
  }
  return estimate(std::move(means));
}

std::optional<std::size_t> simplest_of_best(std::span<const double> regrets, double margin) {
  double best = std::numeric_limits<double>::infinity();
  for (const double regret : regrets) {
    if (regret > 0) best = std::min(best, regret);
  }
  for (std::size_t i = 0; i < regrets.size(); ++i) {
    if (regrets[i] > 0 && regrets[i] <= best * (1 + margin)) return i;
  }
  return std::nullopt;
}

std::vector<Row> rows_of(std::span<const MeasuredPoint> points) {
  Row all;
  for (const MeasuredPoint& point : points) {
    if (!ended_sweep(point)) all.push_back(&point);
  }
  std::ranges::stable_sort(all, [](const MeasuredPoint* a, const MeasuredPoint* b) {
    return std::tuple(kind_of(*a), a->bytes) < std::tuple(kind_of(*b), b->bytes);
  });
  std::vector<Row> rows;
  for (const MeasuredPoint* point : all) {
    if (rows.empty() || kind_of(*rows.back().back()) != kind_of(*point)) rows.emplace_back();
    rows.back().push_back(point);
  }
  return rows;
}

std::vector<const MeasuredCandidate*> winners(const Row& row) {
  std::vector<const MeasuredCandidate*> won;
  for (const MeasuredPoint* point : row) {
    const MeasuredCandidate* last = won.empty() ? nullptr : won.back();
    const MeasuredCandidate* here = last ? find_candidate(*point, last->choice) : nullptr;
    if (here != nullptr && was_measured(*here) && loss(*point, here->choice) <= kHysteresis) {
      won.push_back(here);
      continue;
    }
    std::vector<double> all;
    for (const MeasuredCandidate& candidate : point->candidates) {
      all.push_back(was_measured(candidate) ? candidate.regret : 0);
    }
    const auto best = simplest_of_best(all);
    won.push_back(best ? &point->candidates[*best] : nullptr);
  }
  return won;
}

bool deserves_rule(const MeasuredPoint& point, const MeasuredCandidate& winner) {
  if (winner.choice == point.builtin) return false;
  const MeasuredCandidate* builtin = find_candidate(point, point.builtin);
  if (builtin != nullptr && is_broken(*builtin)) return true;
  return winner.vs_builtin && winner.vs_builtin->low > 1 &&
         winner.vs_builtin->median >= 1 + kRuleMargin;
}

std::vector<Crossover> crossovers(std::span<const Row> rows) {
  constexpr double kMostLoss = 10;  // of a choice that never ran there
  std::vector<Crossover> all;
  for (const Row& row : rows) {
    const std::vector<const MeasuredCandidate*> won = winners(row);
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const MeasuredPoint& low = *row[i];
      const MeasuredPoint& high = *row[i + 1];
      const std::string_view first = ruled(low, won[i]);
      const std::string_view second = ruled(high, won[i + 1]);
      if (first == second || low.bytes == 0) continue;
      const double gap = static_cast<double>(high.bytes) / static_cast<double>(low.bytes);
      const std::size_t middle = halfway(low.bytes, high.bytes) / kGrain * kGrain;
      if (gap < kNearestNeighbours || middle <= low.bytes || middle >= high.bytes) continue;
      const double price = loss(low, second.empty() ? high.builtin : second) +
                           loss(high, first.empty() ? low.builtin : first);
      const double worth = std::log(gap) * std::clamp(price, 1e-3, kMostLoss);
      all.push_back({&low, middle, worth});
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Crossover::worth);
  return all;
}

Range regime_range(double line_ns) {
  const std::string_view regime = regime_at(line_ns);
  if (regime == "near") return {0, 79};
  if (regime == "mid") return {80, 150};
  if (regime == "far") return {151, std::nullopt};
  return {};
}

namespace {

/// Whether a candidate of the point takes PEs that are threads of one process.
bool shows_shared_address_space(const MeasuredPoint& point, const Problem& apart) {
  return std::ranges::any_of(point.candidates, [&](const MeasuredCandidate& candidate) {
    if (is_broken(candidate)) return false;  // perhaps of a program's own algorithm
    const Forced choice = parse_choice(point.collective, candidate.choice, "point");
    return choice.algorithm->supports(apart) != nullptr;
  });
}

}  // namespace

std::string_view regime_at(double line_ns) {
  return regime_of(static_cast<int>(std::lround(line_ns)));
}

void set_problem(MeasuredPoint& point, const Problem& problem) {
  point.collective = problem.collective;
  point.pes = problem.pes;
  point.bytes = bytes_of(problem);
  point.dtype = problem.dtype;
  point.op = problem.op;
  point.memory = problem.memory;
  point.contract = problem.contract;
}

Problem problem_of(const MeasuredPoint& point) {
  Problem problem;
  problem.collective = point.collective;
  problem.dtype = point.dtype;
  problem.op = point.op;
  problem.memory = point.memory;
  problem.contract = point.contract;
  problem.pes = point.pes;
  problem.line_ns = static_cast<int>(std::lround(point.line_ns));
  problem.count = 1;
  problem.count = point.bytes / bytes_of(problem);
  problem.shared_address_space = shows_shared_address_space(point, problem);
  return problem;
}

}  // namespace tutti::bench
