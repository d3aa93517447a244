#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace aqueduct::integration {

/// How a run of aqconform went.
struct KitRun {
  bool in_time = false;
  int status = 0;      ///< from waitpid
  std::string output;  ///< of both streams
};

/// Runs aqconform for at most `bound` and reads its output.
KitRun run_aqconform(std::vector<std::string> arguments, std::chrono::seconds bound);

}  // namespace aqueduct::integration
