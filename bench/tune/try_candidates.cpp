// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/try_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "bench/engine.hpp"

namespace tutti::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCallDeadline{5'000};
constexpr std::uint64_t kCalls = 3;

void say(const Team& team, const std::string& line) {
  if (team.pe() != 0) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Elements that were wrong on any PE.
std::size_t wrong_elements(Team& team, const Cell& cell, const std::string& choice) {
  const Workload work(team, cell);
  const bool order = cell.contract == Contract::Ordered && work.reveals_order();
  double wrong = 0;
  for (std::uint64_t call = 1; call <= (order ? 2 : 1) * kCalls; ++call) {
    const Data data = call <= kCalls ? Data::Exact : Data::Order;
    const Workload::Buffers at = work.buffers(call);
    work.produce(at, call, data);
    work.run(at, {.algorithm = choice, .contract = cell.contract});
    wrong += static_cast<double>(work.wrong(at, call, 0, 1, data));
    team.barrier();
  }
  return static_cast<std::size_t>(largest(team, wrong));
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

int run_trials(const Cell& cell, int pes, const std::vector<std::string>& choices,
               const std::vector<const Algorithm*>& extra_algorithms) {
  Options options;
  options.extra_algorithms = extra_algorithms;
  options.timeout = kCallDeadline;
  try {
    run(
        pes,
        [&](Team& team) {
          for (const std::string& choice : choices) {
            say(team, "begin " + choice);
            const std::size_t wrong = wrong_elements(team, cell, choice);
            say(team, wrong == 0 ? "right" : fmt::format("wrong {} elements", wrong));
          }
        },
        options);
  } catch (const Error& error) {
    fmt::print("failed {}\n", one_line(error.what()));
    return 1;
  }
  return 0;
}

std::vector<std::string> trial_arguments(const Cell& cell, int pes,
                                         const std::vector<std::string>& choices) {
  std::vector<std::string> arguments = {"try",        std::string(name_of(cell.collective)),
                                        "--pes",      std::to_string(pes),
                                        "--bytes",    std::to_string(cell.bytes),
                                        "--dtype",    std::string(name_of(cell.dtype)),
                                        "--op",       std::string(name_of(cell.op)),
                                        "--memory",   std::string(name_of(cell.placement)),
                                        "--contract", std::string(name_of(cell.contract))};
  arguments.insert(arguments.end(), choices.begin(), choices.end());
  return arguments;
}

std::vector<Trial> try_candidates(Team& team, const Cell& cell,
                                  const std::vector<std::string>& choices, milliseconds silence) {
  std::vector<Trial> trials;
  std::vector<std::string> left = choices;
  // A child tries all that are left, until one of them ends it. PE 0 tells the others after each
  // child that it is still there.
  for (bool more = true; first(team, more ? 1 : 0) != 0;) {
    if (team.pe() != 0) continue;
    std::vector<std::string> command = {"/proc/self/exe"};
    const std::vector<std::string> arguments = trial_arguments(cell, team.size(), left);
    command.insert(command.end(), arguments.begin(), arguments.end());
    const std::vector<Trial> told = read_trials(run_child(command, silence));
    trials.insert(trials.end(), told.begin(), told.end());
    left.erase(left.begin(),
               left.begin() + static_cast<std::ptrdiff_t>(std::min(told.size(), left.size())));
    more = !told.empty() && !left.empty();
  }
  // What was never begun could not be tried at all: it is not held against it.
  std::vector<Trial> agreed;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    Trial trial{choices[i], true, false, false, {}};
    if (team.pe() == 0 && i < trials.size()) trial = trials[i];
    trial.right = first(team, trial.right ? 1 : 0) != 0;
    trial.wrong = first(team, trial.wrong ? 1 : 0) != 0;
    trial.hung = first(team, trial.hung ? 1 : 0) != 0;
    agreed.push_back(std::move(trial));
  }
  return agreed;
}

}  // namespace tutti::bench
