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
  bool in_time = true;  ///< false: it was killed because the time was over
  int status = 0;       ///< as waitpid says it
};

/// Forked copies of this process, each with a socket on which it reports failures. No threads, so that a
/// child may start some under every sanitizer.
class Children {
 public:
  /// What a child does; its result is the exit code.
  using Main = std::function<int(std::uint32_t index)>;

  /// Kills and reaps whatever is left.
  ~Children();

  /// Starts one; in the child, `main` runs and the process then exits.
  void start(const Main& main);
  pid_t pid(std::uint32_t index) const { return children_[index].pid; }

  struct Watch {
    std::chrono::steady_clock::time_point deadline;
    std::function<void(std::uint32_t index, const FailureReport&)> failed;
    std::function<void(std::uint32_t index, const Ending&)> ended;
    int descriptor = -1;                  ///< also watched, if not -1 …
    std::function<void()> readable = {};  ///< … and this is called when it is readable
  };
  /// Returns when all have ended; kills those that have not at the deadline.
  void wait(Watch& watch);

 private:
  struct Child {
    pid_t pid = -1;
    int socket = -1;  // -1: ended
  };
  void reap(std::uint32_t index, bool in_time, Watch& watch);

  std::vector<Child> children_;
};

/// "exited with code 3", "was killed by signal 6 (Aborted)".
std::string describe_ending(const Ending& ending);

}  // namespace aqueduct::conformance
