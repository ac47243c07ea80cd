// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tutti::bench {

/// How a child process ended.
struct ChildEnd {
  bool timed_out = false;  ///< it was silent for too long and was killed
  int signal = 0;          ///< that killed it, if any
  int status = 0;          ///< its exit status otherwise
  std::string output;      ///< what it wrote to standard output
};

/// Runs a program with these arguments (the first names the file) and without the `TUTTI_`
/// variables, on all CPUs of this machine, and waits for it. When it has written nothing for as
/// long as `silence`, whatever it does meanwhile, it is killed. Errors: `System` if it cannot be
/// started.
ChildEnd run_child(const std::vector<std::string>& command, std::chrono::milliseconds silence);

/// What is known of a candidate after a trial in a child process.
struct Trial {
  std::string choice;
  bool right = false;
  bool wrong = false;  ///< a result differed
  bool hung = false;   ///< it did not come to an end; if none of the three, it crashed or threw
  std::string reason;
};

/// What the child of a trial wrote, line by line: "begin CHOICE", then "right", "wrong TEXT" or
/// "failed TEXT". A candidate that was begun and not finished is what ended the child. Candidates
/// that were not begun are not among the result.
std::vector<Trial> read_trials(const ChildEnd& end);

}  // namespace tutti::bench
