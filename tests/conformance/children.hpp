#pragma once

#include "tests/conformance/report.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace aqueduct::conformance {

/// How one child ended.
struct Ending {
  bool in_time = true;  ///< false: it was killed at the deadline
  int status = 0;       ///< the status from waitpid
};

/// Forked copies of this process, each with a socket on which it reports failures. This process has no threads, so
/// that a child may start some under every sanitizer.
class Children {
 public:
  /// What a child runs; the result is its exit code.
  using Main = std::function<int(std::uint32_t index)>;

  /// Kills and reaps all children that are left.
  ~Children();

  /// Starts a child, which runs `main` and then exits.
  void start(const Main& main);
  pid_t pid(std::uint32_t index) const { return children_[index].pid; }

  struct Watch {
    std::chrono::steady_clock::time_point deadline;
    std::function<void(std::uint32_t index, const FailureReport&)> failed;
    std::function<void(std::uint32_t index, const Ending&)> ended;
    int descriptor = -1;                  ///< a further descriptor to watch, unless -1
    std::function<void()> readable = {};  ///< called when that descriptor is readable
    /// Called when a child begins to end. Seconds may pass until the system has cleared it away and `ended` is called: with more
    /// ready processes than processors, Linux has spun as long over the files that it had in /proc.
    std::function<void(std::uint32_t index)> ends = {};
  };
  /// Returns when all children have ended; kills those that have not ended at the deadline.
  void wait(Watch& watch);

 private:
  struct Child {
    pid_t pid = -1;
    int socket = -1;  // -1: the child has ended
  };
  void reap(std::uint32_t index, bool in_time, Watch& watch);

  std::vector<Child> children_;
};

/// "exited with code 3", "was killed by signal 6 (Aborted)".
std::string describe_ending(const Ending& ending);

}  // namespace aqueduct::conformance
