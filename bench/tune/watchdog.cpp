// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "bench/tune/choosing.hpp"

namespace tutti::bench {

Watchdog::Watchdog(std::chrono::milliseconds patience, std::function<void(const Hang&)> record)
    : patience_(patience), record_(std::move(record)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::begins(const Cell& cell, const std::string& choice) {
  const std::lock_guard lock(mutex_);
  running_ = {cell, choice, {}};
  since_ = std::chrono::steady_clock::now();
}

void Watchdog::rests() {
  const std::lock_guard lock(mutex_);
  running_.reset();
}

// Nobody notifies it of a candidate: it looks a few times in each patience, so that the blocks of
// a measurement cost a lock and nothing more.
void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    changed_.wait_for(lock, patience_ / 8);
    if (stop_ || !running_) continue;
    const auto silence = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - since_);
    if (silence < patience_) continue;
    running_->silence = silence;
    end_job(*running_);  // with the lock: PE 0 does not go on meanwhile
  }
}

void Watchdog::end_job(const Hang& hang) const {
  fmt::print(stderr,
             "tutti-tune: {} {} {} {} {} B: {} has made no progress for {:.1f} s; the job ends\n",
             name_of(hang.cell.collective), name_of(hang.cell.dtype), name_of(hang.cell.placement),
             name_of(hang.cell.contract), hang.cell.bytes, hang.choice,
             static_cast<double>(hang.silence.count()) / 1e3);
  try {
    if (record_) record_(hang);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti-tune: {}\n", error.what());
  }
  std::fflush(nullptr);
  _exit(1);  // no destructor comes past a thread that loops
}

MeasuredPoint point_of(const Hang& hang, const Problem& problem) {
  MeasuredPoint point;
  set_problem(point, problem);
  const Explanation said = explain(problem, Tuning{});
  point.builtin = describe(*said.algorithm, said.params);
  MeasuredCandidate candidate;
  candidate.choice = hang.choice;
  candidate.status = MeasuredCandidate::Status::Hung;
  candidate.reason = fmt::format("no progress for {:.1f} s among the real PEs; it ended the sweep",
                                 static_cast<double>(hang.silence.count()) / 1e3);
  point.candidates.push_back(std::move(candidate));
  return point;
}

std::vector<std::string> hung_choices(const std::vector<MeasuredPoint>& points) {
  std::vector<std::string> all;
  for (const MeasuredPoint& point : points) {
    if (!ended_sweep(point)) continue;
    for (const MeasuredCandidate& candidate : point.candidates) {
      all.push_back(fmt::format("{}={}", name_of(point.collective), candidate.choice));
    }
  }
  return all;
}

}  // namespace tutti::bench
