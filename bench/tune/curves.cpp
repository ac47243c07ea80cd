// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/curves.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/tune/kinds.hpp"

namespace tutti::bench {
namespace {

Interval scaled(const Interval& us, double factor) {
  return {us.median * factor, us.low * factor, us.high * factor};
}

bool usable(const MeasuredCandidate& candidate) {
  return candidate.status == MeasuredCandidate::Status::Measured && !candidate.times.empty() &&
         std::ranges::all_of(candidate.times, [](const CycleTime& t) { return t.us.low > 0; });
}

/// On the line between two logarithms; `part` is 0 at `a`. The interval is the wider one.
Interval between(const Interval& a, const Interval& b, double part) {
  const double median = std::exp((1 - part) * std::log(a.median) + part * std::log(b.median));
  const double low = std::min(a.low / a.median, b.low / b.median);
  const double high = std::max(a.high / a.median, b.high / b.median);
  return {median, median * low, median * high};
}

double log_of(std::size_t bytes) {
  return std::log(static_cast<double>(std::max<std::size_t>(bytes, 1)));
}

}  // namespace

Interval mean_of(const std::vector<CycleTime>& times) {
  double median = 0;
  double low = 0;
  double high = 0;
  for (const CycleTime& time : times) {
    median += std::log(time.us.median);
    low += std::log(time.us.low);
    high += std::log(time.us.high);
  }
  const auto n = static_cast<double>(times.size());
  return {std::exp(median / n), std::exp(low / n), std::exp(high / n)};
}

std::string full_choice(Collective collective, const std::string& choice) {
  const Forced parsed = parse_choice(collective, choice, "choice");
  return describe(*parsed.algorithm, parsed.params);
}

bool is_cliff(const Interval& ratio) { return ratio.low > kCliff || ratio.high < 1 / kCliff; }

Curves::Curves(const Problem& kind, const MachineFacts& machine) : kind_(kind) {
  model_.machine = machine;
}

void Curves::add(const Row& row) {
  for (const MeasuredPoint* point : row) {
    for (const MeasuredCandidate& candidate : point->candidates) {
      if (!usable(candidate)) continue;
      const std::string choice = full_choice(point->collective, candidate.choice);
      samples_[choice][point->bytes] = mean_of(candidate.times);
    }
  }
}

void Curves::add(const Rule& rule) {
  if (!rule.evidence || rule.evidence->bytes == 0 || rule.evidence->median_us <= 0) return;
  const Evidence& evidence = *rule.evidence;
  const Interval us = {evidence.median_us, evidence.ci95_us[0], evidence.ci95_us[1]};
  samples_[describe(*rule.algorithm, rule.params)][evidence.bytes] = us;
  if (!evidence.vs_builtin) return;
  const Explanation builtin = explain(of_size(kind_, evidence.bytes), model_);
  const std::string choice = describe(*builtin.algorithm, builtin.params);
  samples_[choice].emplace(evidence.bytes, scaled(us, *evidence.vs_builtin));
}

std::optional<double> Curves::predicted(const std::string& choice, std::size_t bytes) const {
  const Problem problem = of_size(kind_, bytes);
  const Forced forced = parse_choice(kind_.collective, choice, "choice");
  const bool ordered = reduces(problem.collective) && problem.contract == Contract::Ordered;
  if (ordered && !forced.algorithm->keeps_ordered) return std::nullopt;
  if (forced.algorithm->supports(problem) != nullptr) return std::nullopt;
  return explain(problem, model_, {.call = choice}).predicted_us;
}

std::optional<Curves::Time> Curves::time_of(std::string choice, std::size_t bytes) const {
  if (choice.empty()) {
    const Explanation builtin = explain(of_size(kind_, bytes), model_);
    choice = describe(*builtin.algorithm, builtin.params);
  }
  const auto here = predicted(choice, bytes);
  if (!here) return std::nullopt;
  const auto found = samples_.find(choice);
  if (found == samples_.end()) return Time{{*here, *here, *here}, *here, false};
  const Samples& samples = found->second;
  const auto above = samples.lower_bound(bytes);
  if (above != samples.end() && (above->first == bytes || above != samples.begin())) {
    if (above->first == bytes) return Time{above->second, *here, true};
    const auto below = std::prev(above);
    const double part =
        (log_of(bytes) - log_of(below->first)) / (log_of(above->first) - log_of(below->first));
    return Time{between(below->second, above->second, part), *here, true};
  }
  const auto nearest = above == samples.end() ? std::prev(above) : above;
  const auto there = predicted(choice, nearest->first);
  if (!there) return std::nullopt;
  return Time{scaled(nearest->second, *here / *there), *here, true};
}

std::optional<Curves::Ratio> Curves::ratio(const std::string& before, std::size_t before_bytes,
                                           const std::string& after,
                                           std::size_t after_bytes) const {
  auto a = time_of(before, before_bytes);
  auto b = time_of(after, after_bytes);
  if (!a || !b) return std::nullopt;
  // The model's ranking is better than its times: what is not measured is measured by the other.
  if (!a->measured && b->measured) a->us = scaled(b->us, a->predicted_us / b->predicted_us);
  if (a->measured && !b->measured) b->us = scaled(a->us, b->predicted_us / a->predicted_us);
  return Ratio{{b->us.median / a->us.median, b->us.low / a->us.high, b->us.high / a->us.low},
               a->measured || b->measured};
}

bool Curves::is_cliff(const std::string& before, std::size_t before_bytes, const std::string& after,
                      std::size_t after_bytes) const {
  const auto found = ratio(before, before_bytes, after, after_bytes);
  return found && bench::is_cliff(*found);
}

}  // namespace tutti::bench
