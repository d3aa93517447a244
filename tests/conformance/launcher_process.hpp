#pragma once

#include "tests/conformance/children.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace aqueduct::conformance {

/// A shell command whose output is read line by line.
class LauncherProcess {
 public:
  /// `line` is called for each line of either stream, without its end.
  LauncherProcess(const std::string& command, std::function<void(std::string_view line)> line);
  /// Kills the command if it has not ended.
  ~LauncherProcess();
  LauncherProcess(const LauncherProcess&) = delete;
  LauncherProcess& operator=(const LauncherProcess&) = delete;

  using Clock = std::chrono::steady_clock;
  /// Reads until the command has ended. Asks it to end (SIGTERM) at `deadline`, which `line` may move, and kills it
  /// soon after. `in_time` is false if it had to be asked.
  Ending wait(const Clock::time_point& deadline);

 private:
  struct Stream {
    int descriptor = -1;  // -1: it has ended
    std::string rest;     // the beginning of a line
  };

  void read_for(std::chrono::milliseconds limit);
  void read(Stream& stream);
  bool streams_ended() const noexcept { return streams_[0].descriptor < 0 && streams_[1].descriptor < 0; }
  bool reap() noexcept;

  std::function<void(std::string_view)> line_;
  std::array<Stream, 2> streams_;  // standard output, standard error
  pid_t pid_ = -1;                 // -1: it has ended
  int status_ = 0;
};

/// Makes one word of a shell's command line.
std::string quoted_for_sh(std::string_view word);

}  // namespace aqueduct::conformance
