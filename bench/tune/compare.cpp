// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "bench/tune/bench_json.hpp"

namespace tutti::bench {
namespace {

constexpr double kFalseAlarms = 0.05;
/// Half an interval in standard errors: order statistics are a little nearer than 1.96 of them.
constexpr double kHalfInterval = 1.86;

/// Standard error of the logarithm of a median, from its interval. The interval comes from about
/// 2 sqrt(n) order statistics, so that the error is known about as well as from sqrt(n) samples.
struct LogError {
  double variance = 0;
  double degrees = 0;
};
LogError log_error(const TimedCell& cell) {
  const double error = (std::log(cell.us.high) - std::log(cell.us.low)) / (2 * kHalfInterval);
  return {error * error, std::sqrt(static_cast<double>(cell.rounds))};
}

/// Welch's degrees of freedom of a difference.
double welch(const LogError& a, const LogError& b) {
  const double both = a.variance + b.variance;
  const double parts = a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees;
  return parts > 0 ? both * both / parts : std::min(a.degrees, b.degrees);
}

double t_quantile(double degrees, double tail) {
  const boost::math::students_t distribution(degrees);
  return boost::math::quantile(boost::math::complement(distribution, tail));
}

std::string where_of(int pes, double line_ns, std::string_view cycle) {
  return fmt::format("pes:{}/{}/{}", pes, regime_of(static_cast<int>(std::lround(line_ns))), cycle);
}

/// For each thing measured where it was.
std::map<std::string_view, std::vector<std::string_view>> places_of(const Results& results) {
  std::map<std::string_view, std::vector<std::string_view>> places;
  for (const auto& [name, cell] : results) places[name.what].push_back(name.where);
  return places;
}

bool usable(const TimedCell& cell) {
  return cell.us.low > 0 && cell.us.high >= cell.us.low && cell.rounds >= 3;
}

}  // namespace

Results results_of(const Tuning& file) {
  Results results;
  for (const MeasuredPoint& point : file.points) {
    for (const MeasuredCandidate& candidate : point.candidates) {
      for (const CycleTime& time : candidate.times) {
        const CellName name = {
            fmt::format("{}/{}/{}/{}/{}/{}/bytes:{}", name_of(point.collective),
                        name_of(point.dtype), name_of(point.op), name_of(point.memory),
                        name_of(point.contract), candidate.choice, point.bytes),
            where_of(point.pes, point.line_ns, name_of(time.cycle))};
        results[name] = {time.us, static_cast<std::size_t>(point.rounds / 2)};
      }
    }
  }
  return results;
}

Results results_of_bench(std::string_view json, std::string_view name) {
  Results results;
  const BenchFile file = read_bench(json, name);
  const std::string_view cycle = file.cycle.empty() ? "unknown" : std::string_view(file.cycle);
  for (const BenchRow& row : file.rows) {
    results[{row.name, where_of(file.pes, row.line_ns, cycle)}] = {row.us, file.rounds};
  }
  return results;
}

std::vector<Comparison> compare(const Results& a, const Results& b) {
  std::vector<Comparison> all;
  std::vector<double> errors;
  std::vector<double> degrees;
  for (const auto& [name, first] : a) {
    const auto found = b.find(name);
    if (found == b.end() || !usable(first) || !usable(found->second)) continue;
    const TimedCell& second = found->second;
    all.push_back({name, {second.us.median / first.us.median, 0, 0}, false});
    const LogError mine = log_error(first);
    const LogError theirs = log_error(second);
    errors.push_back(std::sqrt(mine.variance + theirs.variance));
    degrees.push_back(welch(mine, theirs));
  }
  const double tail = kFalseAlarms / 2 / static_cast<double>(std::max<std::size_t>(1, all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double half = t_quantile(degrees[i], tail) * errors[i];
    Interval& ratio = all[i].ratio;
    ratio.low = ratio.median * std::exp(-half);
    ratio.high = ratio.median * std::exp(half);
    all[i].differs = ratio.low > 1 || ratio.high < 1;
  }
  return all;
}

std::vector<std::string> not_comparable(const Results& a, const Results& b) {
  std::vector<std::string> all;
  const auto first = places_of(a);
  const auto second = places_of(b);
  for (const auto& [what, mine] : first) {
    const auto found = second.find(what);
    if (found == second.end()) continue;
    const auto& theirs = found->second;
    const bool common = std::ranges::any_of(
        mine, [&](std::string_view each) { return std::ranges::count(theirs, each) != 0; });
    if (common) continue;
    all.push_back(fmt::format("{}: {} in the first, {} in the second", what, fmt::join(mine, ", "),
                              fmt::join(theirs, ", ")));
  }
  return all;
}

}  // namespace tutti::bench
