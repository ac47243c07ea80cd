// SPDX-License-Identifier: Apache-2.0
#include "bench/tune/contain.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>

#include "tutti/error.hpp"

extern char** environ;

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorCode::System, fmt::format("pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
};

/// Starts the child with its standard output in the pipe; it may use every CPU, though this PE may
/// be bound to one.
pid_t start(const std::vector<std::string>& command, const Pipe& pipe) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with("TUTTI_")) environment.push_back(*each);
  }
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const bool bound = ::sched_getaffinity(0, sizeof mine, &mine) == 0;
  cpu_set_t all;
  std::memset(&all, 0xFF, sizeof all);
  if (bound) ::sched_setaffinity(0, sizeof all, &all);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(),
                                  environment.data());
  if (bound) ::sched_setaffinity(0, sizeof mine, &mine);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Error(ErrorCode::System, fmt::format("{}: {}", command[0], std::strerror(error)));
  }
  return child;
}

/// Reads until the child closes its end; false if nothing came for too long.
bool read_all(int fd, std::chrono::milliseconds silence, std::string& output) {
  std::array<char, 4096> part{};
  Clock::time_point deadline = Clock::now() + silence;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    output.append(part.data(), static_cast<std::size_t>(got));
    deadline = Clock::now() + silence;
  }
}

std::string end_text(const ChildEnd& end) {
  if (end.timed_out) return "no result before the deadline";
  if (end.signal != 0) return fmt::format("crashed: {}", ::strsignal(end.signal));
  return fmt::format("ended with exit status {}", end.status);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, std::chrono::milliseconds silence) {
  Pipe pipe;
  const pid_t child = start(command, pipe);
  pipe.close_end(1);
  ChildEnd end;
  end.timed_out = !read_all(pipe.ends[0], silence, end.output);
  if (end.timed_out) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  return end;
}

std::vector<Trial> read_trials(const ChildEnd& end) {
  std::vector<Trial> trials;
  std::istringstream lines(end.output);
  bool open = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    if (word == "begin") {
      trials.push_back({text, false, false, false, {}});
      open = true;
    } else if (open && (word == "right" || word == "wrong" || word == "failed")) {
      Trial& trial = trials.back();
      trial.right = word == "right";
      trial.wrong = word == "wrong";
      trial.reason = text;
      open = false;
    }
  }
  if (open) {
    trials.back().hung = end.timed_out;
    trials.back().reason = end_text(end);
  }
  return trials;
}

}  // namespace tutti::bench
